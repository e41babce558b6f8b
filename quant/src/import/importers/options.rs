//! What is known about a checkpoint beside its content, and which forms have a use for it.

use super::{NetworkArch, NetworkError, NetworkForm};
use crate::arch::Architecture;
use crate::graph::Activation;
use crate::import::angel;
use crate::import::datacode::Orientation;

/// What the user knows about a checkpoint; what a form has no use for is refused.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NetworkOptions {
    /// The form, where its content is not to decide.
    pub from: Option<NetworkForm>,
    /// How the tensors hang together, or the sizes of the layers.
    pub arch: Option<NetworkArch>,
    /// What the leaves of trees are multiplied by.
    pub learning_rate: Option<f64>,
    /// What stands between the fields of text matrices.
    pub separator: Option<String>,
    /// Which model a folder of matrices is.
    pub kind: Option<angel::Kind>,
    /// Number of fields, each with one active feature.
    pub fields: Option<usize>,
    /// The most features that are active at once, where they are not fields.
    pub max_active: Option<usize>,
    /// Number of features, where the checkpoint does not know it.
    pub features: Option<usize>,
    /// How weight matrices lie, where the file leaves it open: DataCode's, and tensors under a chain.
    pub orientation: Option<Orientation>,
    /// The epsilon of all normalizations, whatever the checkpoint or its description says.
    pub epsilon: Option<f64>,
    /// What layers of DataCode's compute, by their names in the file; `None` is nothing.
    pub activations: Vec<(String, Option<Activation>)>,
}

impl NetworkOptions {
    /// The description of a checkpoint of bullet's, if that is what is described.
    #[must_use]
    pub fn bullets(&self) -> Option<&Architecture> {
        let may_be = matches!(self.from, None | Some(NetworkForm::Bullet));
        self.arch.as_ref().filter(|_| may_be)?.bullets()
    }

    pub(super) fn angel(&self) -> angel::Options {
        angel::Options {
            kind: self.kind,
            learning_rate: self.learning_rate,
            separator: self.separator.clone(),
            fields: self.fields,
            max_active: self.max_active,
            features: self.features,
        }
    }
}

/// Forms that have a use for an option, and how they are named together.
struct Users {
    forms: &'static [NetworkForm],
    words: &'static str,
}

const ANGEL: Users = Users { forms: &[NetworkForm::Angel], words: "a folder of Angel's matrices" };
const DATACODE: Users = Users { forms: &[NetworkForm::DataCode], words: "a network of DataCode" };
const UNDESCRIBED: Users = Users {
    forms: &[NetworkForm::DataCode, NetworkForm::Safetensors, NetworkForm::Npz],
    words: "a network of DataCode, or tensors with a chain of layers",
};

impl NetworkOptions {
    /// Every option but the form and the description: its name on the command line, whether it was given, and who has a
    /// use for it.
    fn given(&self) -> [(&'static str, bool, Users); 8] {
        [
            ("--learning-rate", self.learning_rate.is_some(), ANGEL),
            ("--kind", self.kind.is_some(), ANGEL),
            ("--features", self.features.is_some(), ANGEL),
            ("--fields", self.fields.is_some(), ANGEL),
            ("--max-active", self.max_active.is_some(), ANGEL),
            ("--separator", self.separator.is_some(), ANGEL),
            ("--activation", !self.activations.is_empty(), DATACODE),
            ("--orientation", self.orientation.is_some(), UNDESCRIBED),
        ]
    }

    /// Refuses what a checkpoint of this form has no use for: an option that changes nothing was meant for something.
    pub(super) fn check(&self, form: NetworkForm) -> Result<(), NetworkError> {
        let is_described = matches!(self.arch, Some(NetworkArch::Graph(_) | NetworkArch::Bullet(_)));
        let needless = self.given().into_iter().find(|(option, is_given, users)| {
            let says_it = *option == "--orientation" && is_described;
            *is_given && (says_it || !users.forms.contains(&form))
        });
        match needless {
            Some((option, _, Users { words, .. })) => {
                Err(NetworkError::NeedlessOption { option, users: words, form: form.is_what() })
            }
            None => Ok(()),
        }
    }
}
