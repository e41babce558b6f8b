//! From messages to types.

use super::error::OnnxError;
use super::protobuf::{Field, Message};
use super::types::{Attribute, AttributeValue, Dimension, GraphProto, Model, NodeProto, TensorProto, ValueInfo};

/// Graphs inside graphs that are followed; none of them is read, since no operator that has one is supported.
const MAX_DEPTH: usize = 16;

type Read<T> = Result<T, OnnxError>;

/// Puts the name of a repeated field before an error.
fn indexed<T>(read: Read<T>, name: &str, index: usize) -> Read<T> {
    read.map_err(|error| error.within(&format!("{name}[{index}]")))
}

fn named<T>(read: Read<T>, name: &str) -> Read<T> {
    read.map_err(|error| error.within(name))
}

/// Reads a ModelProto.
pub(super) fn model(bytes: &[u8]) -> Read<Model<'_>> {
    let (mut graph, mut opset, mut sets) = (None, None, 0);
    for field in (Message { bytes, offset_bytes: 0 }).fields() {
        let field = named(field, "model")?;
        match field.number {
            7 if graph.is_some() => return Err(OnnxError::Twice { what: "the graph".to_owned() }),
            7 => graph = Some(named(field.message().and_then(self::graph), "graph")?),
            8 => {
                let (domain, version) = indexed(field.message().and_then(operator_set), "opset_import", sets)?;
                sets += 1;
                if is_onnx_domain(domain) && opset.replace(version).is_some_and(|other| other != version) {
                    return Err(OnnxError::Twice { what: "the version of ONNX's operators".to_owned() });
                }
            }
            25 => {
                let place = "the model".to_owned();
                return Err(OnnxError::Feature { place, what: "a function of the model's own".to_owned() });
            }
            _ => {}
        }
    }
    let missing = |what: &str| OnnxError::Missing { what: what.to_owned() };
    let graph = graph.ok_or_else(|| missing("the graph"))?;
    let opset = opset.ok_or_else(|| missing("the version of ONNX's operators (opset_import)"))?;
    Ok(Model { opset, graph, epsilon: None })
}

/// Whether a domain is that of ONNX's own operators.
pub(super) fn is_onnx_domain(domain: &str) -> bool {
    matches!(domain, "" | "ai.onnx")
}

fn operator_set(message: Message<'_>) -> Read<(&str, i64)> {
    let (mut domain, mut version) = ("", 0);
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => domain = field.text()?,
            2 => version = field.int()?,
            _ => {}
        }
    }
    Ok((domain, version))
}

fn graph(message: Message<'_>) -> Read<GraphProto<'_>> {
    let mut graph = GraphProto::default();
    for field in message.fields() {
        let field = field?;
        let read = || field.message();
        match field.number {
            1 => {
                let index = graph.nodes.len();
                graph.nodes.push(indexed(read().and_then(|message| node(message, index)), "node", index)?);
            }
            5 => {
                let index = graph.initializers.len();
                graph.initializers.push(indexed(read().and_then(tensor), "initializer", index)?);
            }
            11 => {
                let index = graph.inputs.len();
                graph.inputs.push(indexed(read().and_then(value_info), "input", index)?);
            }
            12 => {
                let index = graph.outputs.len();
                graph.outputs.push(indexed(read().and_then(value_info), "output", index)?);
            }
            15 => {
                let place = "the graph".to_owned();
                return Err(OnnxError::Feature { place, what: "a sparse initializer".to_owned() });
            }
            _ => {}
        }
    }
    Ok(graph)
}

fn node(message: Message<'_>, index: usize) -> Read<NodeProto<'_>> {
    let mut node = NodeProto { index, ..NodeProto::default() };
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => node.inputs.push(field.text()?),
            2 => node.outputs.push(field.text()?),
            3 => node.name = field.text()?,
            4 => node.operator = field.text()?,
            5 => {
                let index = node.attributes.len();
                node.attributes.push(indexed(field.message().and_then(attribute), "attribute", index)?);
            }
            7 => node.domain = field.text()?,
            _ => {}
        }
    }
    Ok(node)
}

fn attribute(message: Message<'_>) -> Read<Attribute<'_>> {
    let (mut name, mut kind) = ("", None);
    let (mut float, mut int, mut text, mut tensor) = (None, None, None, None);
    let (mut floats, mut ints) = (Vec::new(), Vec::new());
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => name = field.text()?,
            2 => float = Some(field.float()?),
            3 => int = Some(field.int()?),
            4 => text = Some(field.bytes()?),
            5 => tensor = Some(named(field.message().and_then(self::tensor), "t")?),
            6 | 11 => check_depth(field.message()?)?,
            7 => field.floats(|float| floats.push(float))?,
            8 => field.ints(|int| ints.push(int))?,
            20 => kind = Some(field.int()?),
            _ => {}
        }
    }
    // Old writers leave the type out; then it is that of the field which is there.
    let kind = kind.filter(|kind| *kind != 0).unwrap_or(match () {
        () if float.is_some() => 1,
        () if int.is_some() => 2,
        () if text.is_some() => 3,
        () if tensor.is_some() => 4,
        () if !floats.is_empty() => 6,
        () if !ints.is_empty() => 7,
        () => 0,
    });
    let value = match kind {
        1 => AttributeValue::Float(or_zero(float)),
        2 => AttributeValue::Int(or_zero(int)),
        3 => AttributeValue::Text(or_zero(text)),
        4 => match tensor {
            Some(tensor) => AttributeValue::Tensor(Box::new(tensor)),
            None => return Err(OnnxError::Missing { what: format!("the tensor of the attribute `{name}`") }),
        },
        6 => AttributeValue::Floats(floats),
        7 => AttributeValue::Ints(ints),
        _ => AttributeValue::Other,
    };
    Ok(Attribute { name, value })
}

/// Follows graphs in the attributes of nodes of graphs, not by recursion, and refuses more than [`MAX_DEPTH`].
fn check_depth(graph: Message<'_>) -> Read<()> {
    let mut waiting = vec![(graph, 1)];
    while let Some((graph, depth)) = waiting.pop() {
        if depth > MAX_DEPTH {
            return Err(OnnxError::Nesting { limit: MAX_DEPTH });
        }
        for node in inner(graph, 1)? {
            for attribute in inner(node, 5)? {
                let graphs = [inner(attribute, 6)?, inner(attribute, 11)?].concat();
                waiting.extend(graphs.into_iter().map(|graph| (graph, depth + 1)));
            }
        }
    }
    Ok(())
}

/// The messages in a field.
fn inner(message: Message<'_>, number: u32) -> Read<Vec<Message<'_>>> {
    let fields = message.fields().filter(|field| field.as_ref().map_or(true, |field| field.number == number));
    fields.map(|field| field?.message()).collect()
}

fn tensor(message: Message<'_>) -> Read<TensorProto<'_>> {
    let mut tensor = TensorProto::default();
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => named(field.ints(|dim| tensor.dims.push(dim)), "dims")?,
            2 => tensor.data_type = named(field.int(), "data_type")?,
            4 | 5 | 7 | 10 | 11 => tensor.typed.push(field),
            6 => tensor.has_texts = true,
            8 => tensor.name = named(field.text(), "name")?,
            9 => tensor.raw = Some(named(field.bytes(), "raw_data")?),
            13 => {
                let index = tensor.external.len();
                tensor.external.push(indexed(field.message().and_then(entry), "external_data", index)?);
            }
            14 => tensor.is_external = field.int()? == 1,
            _ => {}
        }
    }
    Ok(tensor)
}

fn entry(message: Message<'_>) -> Read<(&str, &str)> {
    let (mut key, mut value) = ("", "");
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => key = field.text()?,
            2 => value = field.text()?,
            _ => {}
        }
    }
    Ok((key, value))
}

fn value_info(message: Message<'_>) -> Read<ValueInfo<'_>> {
    let mut info = ValueInfo::default();
    let mut kind = None;
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => info.name = field.text()?,
            2 => kind = Some(field),
            _ => {}
        }
    }
    let tensor = named(first(kind, 1), "type")?;
    info.data_type = named(first(tensor, 1), "type.tensor_type")?.map_or(Ok(0), |field| field.int())?;
    if let Some(shape) = named(first(tensor, 2), "type.tensor_type")? {
        info.dims = Some(named(shape.message().and_then(dimensions), "type.tensor_type.shape")?);
    }
    Ok(info)
}

/// The first field of this number in the message of a field.
fn first(field: Option<Field<'_>>, number: u32) -> Read<Option<Field<'_>>> {
    let Some(field) = field else { return Ok(None) };
    let mut fields = field.message()?.fields();
    fields.find(|field| field.as_ref().map_or(true, |field| field.number == number)).transpose()
}

fn dimensions(message: Message<'_>) -> Read<Vec<Dimension<'_>>> {
    let mut dims = Vec::new();
    for field in message.fields() {
        let field = field?;
        if field.number != 1 {
            continue;
        }
        let mut dim = Dimension::Open("");
        for field in field.message()?.fields() {
            let field = field?;
            match field.number {
                1 => dim = Dimension::Fixed(field.int()?),
                2 => dim = Dimension::Open(field.text()?),
                _ => {}
            }
        }
        dims.push(dim);
    }
    Ok(dims)
}

/// A field of one value; Protocol Buffers leave it out where it is 0, or empty.
fn or_zero<T: Default>(field: Option<T>) -> T {
    field.unwrap_or_default()
}
