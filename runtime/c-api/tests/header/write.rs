//! What a source offers, as C.

use super::source::{Item, Kind};
use std::fmt::Write;

const WIDTH: usize = 120;

pub fn items(out: &mut String, items: &[Item]) {
    for item in items {
        out.push('\n');
        comment(out, "", &item.docs);
        match &item.kind {
            Kind::Constant { name, value } => writeln!(out, "#define {name} {value}").unwrap(),
            Kind::Statuses(statuses) => write_statuses(out, statuses),
            Kind::Structure { name, fields } => {
                let name = c_type(name);
                writeln!(out, "typedef struct {name} {{").unwrap();
                for (docs, name, kind) in fields {
                    comment(out, "    ", docs);
                    writeln!(out, "    {};", declared(kind, name)).unwrap();
                }
                writeln!(out, "}} {name};").unwrap();
            }
            Kind::Function { name, parameters, result } => {
                let parameters: Vec<String> = parameters.iter().map(|(name, kind)| declared(kind, name)).collect();
                let start = declared(result, name);
                let line = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
                if start.len() + line.len() + "();".len() <= WIDTH {
                    writeln!(out, "{start}({line});").unwrap();
                } else {
                    writeln!(out, "{start}(\n    {});", parameters.join(",\n    ")).unwrap();
                }
            }
        }
    }
}

fn write_statuses(out: &mut String, statuses: &[(Vec<String>, String, String)]) {
    out.push_str("typedef int32_t tamis_status;\n\nenum {\n");
    let last = statuses.len() - 1;
    for (index, (docs, name, number)) in statuses.iter().enumerate() {
        if name.is_empty() {
            out.push('\n');
            continue;
        }
        comment(out, "    ", docs);
        let end = if index == last { "" } else { "," };
        writeln!(out, "    TAMIS_{} = {number}{end}", with_underscores(name)).unwrap();
    }
    out.push_str("};\n");
}

/// `NotAHandle` as `NOT_A_HANDLE`.
fn with_underscores(name: &str) -> String {
    let mut out = String::new();
    for (index, letter) in name.char_indices() {
        if index > 0 && letter.is_uppercase() {
            out.push('_');
        }
        out.push(letter.to_ascii_uppercase());
    }
    out
}

fn comment(out: &mut String, indent: &str, docs: &[String]) {
    assert!(!docs.is_empty(), "what C sees is documented");
    for (index, doc) in docs.iter().enumerate() {
        let start = if index == 0 { "/*" } else { " *" };
        let end = if index + 1 == docs.len() { " */" } else { "" };
        let space = if doc.is_empty() { "" } else { " " };
        writeln!(out, "{indent}{start}{space}{doc}{end}").unwrap();
    }
}

/// A name with its type.
fn declared(kind: &str, name: &str) -> String {
    let kind = c_type(kind);
    let space = if kind.ends_with('*') { "" } else { " " };
    format!("{kind}{space}{name}")
}

fn c_type(kind: &str) -> String {
    if let Some(rest) = kind.strip_prefix("*mut ") {
        let rest = c_type(rest);
        return if rest.ends_with('*') { format!("{rest}*") } else { format!("{rest} *") };
    }
    if let Some(rest) = kind.strip_prefix("*const ") {
        assert!(!rest.starts_with('*'), "a constant pointer to a pointer is not known here");
        return format!("const {} *", c_type(rest));
    }
    let known = match kind {
        "c_char" => "char",
        "c_void" => "void",
        "f32" => "float",
        "i8" => "int8_t",
        "u8" => "uint8_t",
        "i16" => "int16_t",
        "u16" => "uint16_t",
        "i32" => "int32_t",
        "u32" => "uint32_t",
        "u64" => "uint64_t",
        "usize" => "size_t",
        "Model" => "tamis_model",
        "ModelShape" => "tamis_model_shape",
        "Net" => "tamis_net",
        "State" => "tamis_state",
        "Output" => "tamis_output",
        "Shape" => "tamis_shape",
        "Status" => "tamis_status",
        _ => panic!("the type {kind} has no name in C here"),
    };
    known.to_owned()
}
