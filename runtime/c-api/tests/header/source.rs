//! What a source file offers to C.

/// An item and its documentation.
pub struct Item {
    pub docs: Vec<String>,
    pub kind: Kind,
}

pub enum Kind {
    Constant {
        name: String,
        value: String,
    },
    /// `(documentation, name, number)`, and an empty name where the source has an empty line.
    Statuses(Vec<(Vec<String>, String, String)>),
    /// `(documentation, name, type)`
    Structure {
        name: String,
        fields: Vec<(Vec<String>, String, String)>,
    },
    /// `(name, type)` of each parameter
    Function {
        name: String,
        parameters: Vec<(String, String)>,
        result: String,
    },
}

pub fn items(text: &str) -> Vec<Item> {
    let mut items = Vec::new();
    let (mut docs, mut attributes) = (Vec::new(), String::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(doc) = line.strip_prefix("///") {
            docs.push(doc.trim().to_owned());
            continue;
        }
        if line.starts_with("#[") {
            attributes += line;
            continue;
        }
        let kind = if let Some(rest) = line.strip_prefix("pub const ") {
            let (name, rest) = rest.split_once(": ").unwrap();
            let (_, value) = rest.split_once(" = ").unwrap();
            Some(Kind::Constant { name: name.to_owned(), value: value.trim_end_matches(';').to_owned() })
        } else if line.starts_with("pub enum ") && attributes.contains("repr(i32)") {
            Some(Kind::Statuses(body(&mut lines, " = ")))
        } else if line.starts_with("pub struct ") && attributes.contains("repr(C)") {
            let name = line.trim_start_matches("pub struct ").trim_end_matches(" {").to_owned();
            Some(Kind::Structure { name, fields: body(&mut lines, ": ") })
        } else if attributes.contains("unsafe(no_mangle)") {
            let mut signature = line.to_owned();
            while !signature.ends_with('{') {
                signature += lines.next().unwrap().trim_start();
            }
            Some(function(&signature))
        } else {
            None
        };
        let docs = std::mem::take(&mut docs);
        attributes.clear();
        items.extend(kind.map(|kind| Item { docs, kind }));
    }
    items
}

/// The lines of a body in braces, each a name, `between`, and what stands behind it.
fn body<'t>(lines: &mut impl Iterator<Item = &'t str>, between: &str) -> Vec<(Vec<String>, String, String)> {
    let (mut entries, mut docs) = (Vec::new(), Vec::new());
    for line in lines.by_ref().map(str::trim).take_while(|line| *line != "}") {
        if let Some(doc) = line.strip_prefix("///") {
            docs.push(doc.trim().to_owned());
        } else if line.is_empty() {
            entries.push((Vec::new(), String::new(), String::new()));
        } else {
            let (name, rest) = line.trim_start_matches("pub ").trim_end_matches(',').split_once(between).unwrap();
            entries.push((std::mem::take(&mut docs), name.to_owned(), rest.to_owned()));
        }
    }
    entries
}

fn function(signature: &str) -> Kind {
    let signature = signature.trim_start_matches("pub ").trim_start_matches("unsafe ");
    let signature = signature.strip_prefix("extern \"C\" fn ").expect("a function of C's");
    let (name, rest) = signature.split_once('(').unwrap();
    let (parameters, rest) = rest.split_once(')').unwrap();
    let parameters = parameters.split(',').map(str::trim).filter(|parameter| !parameter.is_empty());
    let parameters = parameters.map(|parameter| {
        let (name, kind) = parameter.split_once(": ").unwrap();
        (name.to_owned(), kind.to_owned())
    });
    let result = rest.trim().trim_end_matches('{').trim().trim_start_matches("-> ").to_owned();
    Kind::Function { name: name.to_owned(), parameters: parameters.collect(), result }
}
