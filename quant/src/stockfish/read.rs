//! From bytes to a [`Net`].

use super::cursor::Cursor;
use super::decision::decide;
use super::error::NnueError;
use super::file_part::Place;
use super::hashes::{is_sfnn_v15, shapes_of_header, transformer_of};
use super::leb128::read_block;
use super::net::{
    Affine, Block, Encoding, FeatureSet, Head, Net, PAIRWISE_FIRST, PSQT_BUCKETS, ROW_MULTIPLE, RelationRows, Shape,
    Stack, Transformer, VERSION_HALF_KA, VERSION_HALF_KP, VERSION_WIDE,
};
use super::threat_rows;

/// Features of a shogi network with HalfKP: 81 king squares of 1548.
const SHOGI_HALF_KP: usize = 81 * 1548;

/// Whether a file starts as one of the family does, so that [`read`] is the one to say what it is.
///
#[must_use]
pub fn is_nnue(bytes: &[u8]) -> bool {
    let version = bytes.first_chunk().map(|&chunk| u32::from_le_bytes(chunk));
    matches!(version, Some(VERSION_HALF_KP | VERSION_HALF_KA | VERSION_WIDE))
}

/// Reads a whole `.nnue` file.
///
/// The architecture follows from the three kinds of hashes, which must agree; where several share their hashes, from
/// the length and from weights that only one of them has. Every byte is accounted for: [`to_bytes`](super::to_bytes)
/// gives the same file again.
///
/// # Errors
/// [`NnueError`] for files of another family, of inputs or layers that are not supported, for hashes that disagree, for
/// lengths that do not fit, and for LEB128 that is not the shortest or does not fit its type. Memory is asked for only
/// in proportion to bytes that are there.
pub fn read(bytes: &[u8]) -> Result<Net, NnueError> {
    let mut cursor = Cursor::new(bytes);
    let version = cursor.u32(Place::Header)?;
    match version {
        VERSION_HALF_KP | VERSION_HALF_KA | VERSION_WIDE => {}
        found => return Err(NnueError::Version { found }),
    }
    let header = cursor.u32(Place::Header)?;
    let description_len = cursor.u32(Place::Header)? as usize;
    let description = cursor.take(description_len, Place::Description)?.to_vec();

    let (features, width) = inputs(&mut cursor, version, header)?;
    if features == FeatureSet::Threats {
        threat_rows::check(&cursor, width, header)?;
    }
    let (transformer, shape) = transformer(&mut cursor, features, width)
        .and_then(|transformer| Ok((transformer, shape(&cursor, features, width, header)?)))
        .map_err(|error| blame(error, features, width, header))?;
    let stacks = (0..shape.stacks()).map(|index| stack(&mut cursor, &shape, index)).collect::<Result<_, _>>()?;
    let division = decide(&shape, Some(bytes)).division;
    Ok(Net { shape, description, transformer, stacks, division })
}

/// The features and the width, from the transformer's hash.
fn inputs(cursor: &mut Cursor<'_>, version: u32, header: u32) -> Result<(FeatureSet, usize), NnueError> {
    let hash = cursor.u32(Place::TransformerHash)?;
    let Some((features, width)) = transformer_of(hash) else {
        if is_sfnn_v15(hash) {
            return Err(NnueError::Unreleased { name: "SFNNv15", rows: None });
        }
        return Err(match shapes_of_header(header).first() {
            Some(&shape) => NnueError::TransformerHash { found: hash, shape },
            None => NnueError::Unknown { header, transformer: hash },
        });
    };
    if features.version() != version {
        // A bit of one set's hash makes another's: where the header agrees with the version, the hash is damaged.
        let by_header = shapes_of_header(header).into_iter().find(|shape| shape.features.version() == version);
        if let Some(shape) = by_header {
            return Err(NnueError::TransformerHash { found: hash, shape });
        }
        return Err(NnueError::VersionOfFeatures { found: version, features });
    }
    if features == FeatureSet::HalfKp {
        let shape = Shape { features, width, head: Head::Clipped { first: 32 } };
        let shogi_len_bytes = 2 * width * (1 + SHOGI_HALF_KP) + stacks_len_bytes(&shape);
        if cursor.rest().len() == shogi_len_bytes {
            return Err(NnueError::Shogi { features: SHOGI_HALF_KP, expected: features.count() });
        }
    }
    Ok((features, width))
}

/// The hash to blame where header and transformer are each of a known architecture, but of two. If everything up to the
/// first stack is as the transformer's hash says, that one is right and the header wrong; else it is the other way
/// round.
fn blame(error: NnueError, features: FeatureSet, width: usize, header: u32) -> NnueError {
    let by_header = shapes_of_header(header);
    let agrees = by_header.iter().any(|shape| (shape.features, shape.width) == (features, width));
    match (error, by_header.first()) {
        (error @ NnueError::HeaderHash { .. }, _) => error,
        (_, Some(&shape)) if !agrees => {
            let found = Shape { features, width, ..shape }.transformer_hash();
            NnueError::TransformerHash { found, shape }
        }
        (error, _) => error,
    }
}

fn transformer(cursor: &mut Cursor<'_>, features: FeatureSet, width: usize) -> Result<Transformer, NnueError> {
    let biases = read_block(cursor, width, Place::TransformerBiases)?;
    let joins = features.joins_psqt();
    let mut relations = Vec::new();
    for &relation in features.relations() {
        let bytes = cursor.take(relation.count() * width, Place::RelationWeights(relation))?;
        let weights = bytes.iter().map(|byte| byte.cast_signed()).collect();
        let psqt = match joins {
            true => Block { values: Vec::new(), encoding: Encoding::Raw },
            false => read_block(cursor, relation.count() * PSQT_BUCKETS, Place::RelationPsqt(relation))?,
        };
        relations.push(RelationRows { weights, psqt });
    }
    let weights = read_block(cursor, features.piece_count() * width, Place::TransformerWeights)?;
    let psqt = match features.has_psqt() {
        true if joins => Some(joined_psqt(cursor, features, &mut relations)?),
        true => Some(read_block(cursor, features.piece_count() * PSQT_BUCKETS, Place::Psqt)?),
        false => None,
    };
    Ok(Transformer { biases, weights, psqt, relations })
}

/// The piece-square values of all features in one block: those of the relations, which get them here, in front.
fn joined_psqt(
    cursor: &mut Cursor<'_>,
    features: FeatureSet,
    relations: &mut [RelationRows],
) -> Result<Block<i32>, NnueError> {
    let Block { mut values, encoding } = read_block(cursor, features.count() * PSQT_BUCKETS, Place::Psqt)?;
    for (relation, rows) in features.relations().iter().zip(relations) {
        let rest = values.split_off(relation.count() * PSQT_BUCKETS);
        rows.psqt = Block { values: std::mem::replace(&mut values, rest), encoding };
    }
    Ok(Block { values, encoding })
}

/// The architecture, of which features and width are known; nothing is consumed.
fn shape(cursor: &Cursor<'_>, features: FeatureSet, width: usize, header: u32) -> Result<Shape, NnueError> {
    let offset_bytes = cursor.offset_bytes();
    let found = cursor.clone().u32(Place::StackHash { stack: 0 })?;
    let all: Vec<Shape> = features.heads().iter().map(|&head| Shape { features, width, head }).collect();
    let by_header: Vec<Shape> = all.iter().copied().filter(|shape| shape.header_hash() == header).collect();
    let by_stack = all.iter().copied().find(|shape| shape.stack_hash() == found);
    let Some(&first) = by_header.first() else {
        return Err(match (by_stack, all.last()) {
            (None, Some(&nearest)) => {
                let agrees = header == nearest.transformer_hash() ^ found;
                NnueError::UnknownStack { offset_bytes, found, features, width, nearest, agrees }
            }
            (Some(shape), _) => NnueError::HeaderHash { found: header, shape },
            (None, None) => NnueError::Unknown { header, transformer: found },
        });
    };
    if first.stack_hash() != found {
        return Err(NnueError::StackHash { stack: 0, offset_bytes, found, shape: first });
    }
    let found = cursor.rest().len();
    let mut fitting = by_header.iter().copied().filter(|shape| stacks_len_bytes(shape) == found);
    match fitting.next() {
        // Where another set shares hashes and length.
        Some(Shape { head: Head::Pairwise { .. }, .. }) if fitting.next().is_some() => {
            let squares = has_squares(cursor.rest(), width)?;
            Ok(Shape { features, width, head: Head::Pairwise { squares } })
        }
        Some(shape) => Ok(shape),
        None => {
            let mut expected: Vec<_> = by_header.iter().map(|shape| (*shape, stacks_len_bytes(shape))).collect();
            expected.dedup_by_key(|&mut (_, len_bytes)| len_bytes);
            Err(NnueError::StacksLength { offset_bytes, found, expected })
        }
    }
}

/// Bytes of all stacks with their hashes.
fn stacks_len_bytes(shape: &Shape) -> usize {
    let layer = |(inputs, outputs): (usize, usize)| outputs * (4 + inputs.next_multiple_of(ROW_MULTIPLE));
    shape.stacks() * (4 + shape.layers().into_iter().map(layer).sum::<usize>())
}

/// Whether the second layers read squares, told by the columns that are padding if not.
///
/// 15 and 30 inputs are padded to 32 alike, and hashes say nothing. Trained layers have few zeros (25 of 480 weights of
/// a stack at most in those seen), padding is zero but for a stray value: nothing in between is guessed at.
fn has_squares(stacks: &[u8], width: usize) -> Result<bool, NnueError> {
    let shape = Shape { features: FeatureSet::HalfKaV2Hm, width, head: Head::Pairwise { squares: true } };
    let [(inputs, outputs), (second_inputs, second_outputs), _] = shape.layers();
    let start = 4 + outputs * (4 + inputs) + second_outputs * 4;
    let stack_len_bytes = stacks_len_bytes(&shape) / shape.stacks();
    let (mut found, mut count) = (0, 0);
    for stack in stacks.chunks_exact(stack_len_bytes) {
        let rows = stack[start..].chunks_exact(ROW_MULTIPLE).take(second_outputs);
        for weight in rows.flat_map(|row| &row[PAIRWISE_FIRST..second_inputs]) {
            count += 1;
            found += usize::from(*weight != 0);
        }
    }
    match found {
        0 => Ok(false),
        _ if 2 * found >= count => Ok(true),
        _ => Err(NnueError::SquaresUnclear { found, count }),
    }
}

fn stack(cursor: &mut Cursor<'_>, shape: &Shape, stack: usize) -> Result<Stack, NnueError> {
    let offset_bytes = cursor.offset_bytes();
    let found = cursor.u32(Place::StackHash { stack })?;
    if found != shape.stack_hash() {
        return Err(NnueError::StackHash { stack, offset_bytes, found, shape: *shape });
    }
    let [first, second, output] = shape.layers();
    Ok(Stack {
        first: affine(cursor, first, stack, 0)?,
        second: affine(cursor, second, stack, 1)?,
        output: affine(cursor, output, stack, 2)?,
    })
}

fn affine(
    cursor: &mut Cursor<'_>,
    (inputs, outputs): (usize, usize),
    stack: usize,
    layer: usize,
) -> Result<Affine, NnueError> {
    let biases = cursor.take(4 * outputs, Place::LayerBiases { stack, layer })?;
    let biases = biases.as_chunks().0.iter().map(|&chunk| i32::from_le_bytes(chunk)).collect();
    let len_bytes = outputs * inputs.next_multiple_of(ROW_MULTIPLE);
    let weights = cursor.take(len_bytes, Place::LayerWeights { stack, layer })?;
    let weights = weights.iter().map(|&byte| byte.cast_signed()).collect();
    Ok(Affine { inputs, outputs, biases, weights })
}
