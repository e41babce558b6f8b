//! Loading networks, creating states for them, and what a network says of itself.

use super::places::Spoilt;
use super::text::Text;
use super::{Created, Loaded, NETWORKS, PLIES, TIERS, World, shape_of};
use crate::boards::{Calls, Line};
use tamis::Status;
use tamis_quant::run::AlignedBytes;
use tamis_runtime::engine::AnyNetwork;

impl World {
    pub(super) fn load(&mut self, net: usize, calls: &mut Calls<'_>) -> Option<()> {
        let (which, spoilt, tier) = (usize::from(calls.byte()?), Spoilt::of(calls.byte()?), calls.byte()?);
        let file = which % NETWORKS.len();
        let bytes = AlignedBytes::copy_of(NETWORKS[file].as_ref());
        let mut shape = shape_of(bytes.as_ref());
        let (expected, is_another) = (tier & 0x40 != 0, tier & 0x20 != 0);
        shape.hidden += u32::from(is_another);
        let cut = usize::from(tier & 0x80 != 0);
        let len = bytes.as_ref().len() - cut;
        let name = match usize::from(tier & 15) {
            0 => Some(c"none of them"),
            index => TIERS.get(index - 1).copied(),
        };
        let mut text = Text::new(usize::from(tier) / 2);
        let (place, loaded) = &mut self.nets[net];
        let status = place.load(bytes, len, expected.then_some(&shape), name, spoilt, &mut text);
        text.of(status, "a load");
        let wanted = if tier & 15 == 0 {
            Status::UnknownTier
        } else if let Some(status) = spoilt.memory_status() {
            status
        } else if cut > 0 {
            Status::FileLength
        } else if expected && is_another {
            Status::Differs
        } else {
            self.loads += 1;
            *loaded = Some(Loaded { file, number: self.loads });
            Status::Ok
        };
        assert_eq!(status, wanted, "a load of file {file}");
        Some(())
    }

    pub(super) fn create(&mut self, net: usize, state: usize, calls: &mut Calls<'_>) -> Option<()> {
        let (sizes, spoilt) = (calls.byte()?, Spoilt::of(calls.byte()?));
        let (plies, keys) = (1 + usize::from(sizes & 7) % PLIES, usize::from(sizes >> 4));
        let mut text = Text::new(usize::from(sizes));
        let (place, loaded) = &self.nets[net];
        assert_eq!(place.state_size(plies, keys) == 0, loaded.is_none(), "the size of a state");
        let status = self.states[state].0.create(place, plies, keys, spoilt, &mut text);
        text.of(status, "a state's creation");
        let wanted = match (loaded, spoilt.memory_status()) {
            (None, _) => Status::NotAHandle,
            (_, Some(status)) => status,
            (Some(loaded), None) => {
                let hidden = shape_of(NETWORKS[loaded.file].as_ref()).hidden as usize;
                self.states[state].1 = Some(Created { plies, hidden, line: Line::default(), of: None });
                Status::Ok
            }
        };
        assert_eq!(status, wanted, "a state's creation");
        Some(())
    }

    /// What a network says of itself.
    pub(super) fn ask(&self, net: usize, calls: &mut Calls<'_>) -> Option<()> {
        let (spoilt, which) = (Spoilt::of(calls.byte()?), calls.byte()?);
        let (place, loaded) = &self.nets[net];
        let (status, mut shape) = place.shape(spoilt);
        let mut text = Text::new(usize::from(which) / 3);
        let Some(loaded) = loaded else {
            assert_eq!(status, spoilt.handle_status().unwrap_or(Status::NotAHandle), "the shape of nothing");
            assert_eq!(place.facts(), (0, 0, 0, None), "facts of nothing");
            return Some(());
        };
        if let Some(wanted) = spoilt.handle_status() {
            assert_eq!((status, shape.hidden), (wanted, 1), "the shape of a spoilt handle");
            return Some(());
        }
        let file = NETWORKS[loaded.file].as_ref();
        assert_eq!((status, shape), (Status::Ok, shape_of(file)), "the shape of file {}", loaded.file);
        let network = AnyNetwork::load(file).unwrap();
        let (keys, is_real, checksum, tier) = place.facts();
        let known = (network.keys(), u32::from(network.is_real()), network.plan().identity().checksum());
        assert_eq!((keys, is_real, checksum), known, "facts of file {}", loaded.file);
        assert!(tier.is_some_and(|tier| TIERS.contains(&tier)), "{tier:?}");
        let is_another = which & 1 == 1;
        shape.outputs += u32::from(is_another);
        let status = place.expect(&shape, &mut text);
        text.of(status, "an expectation");
        assert_eq!(status, if is_another { Status::Differs } else { Status::Ok }, "an expectation");
        Some(())
    }
}
