//! Files of other systems that are not read, told by their first bytes, each with the way to one that is.

/// A form that is known and not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Foreign {
    /// What it is: `an ONNX model`.
    pub what: &'static str,
    /// How to make something of it that is read.
    pub instead: &'static str,
}

const KERAS: Foreign = Foreign {
    what: "a Keras model",
    instead: "write its weights as npz and describe the graph: `import keras, numpy; numpy.savez(\"net.npz\", \
              **{w.path: w.numpy() for w in keras.models.load_model(FILE).weights})`",
};
const HDF5: Foreign = Foreign { what: "an HDF5 file, as Keras writes them", ..KERAS };
const PYTORCH: Foreign = Foreign {
    what: "a PyTorch checkpoint",
    instead: "write its tensors as safetensors and describe the graph: `import torch, safetensors.torch; \
              safetensors.torch.save_file(torch.load(FILE, map_location=\"cpu\"), \"net.safetensors\")`",
};
const PICKLE: Foreign = Foreign { what: "a Python pickle, as old PyTorch checkpoints are", ..PYTORCH };
const GZIP: Foreign = Foreign { what: "compressed with gzip", instead: "decompress it: `gzip -d FILE`" };
const ZSTD: Foreign = Foreign { what: "compressed with zstd", instead: "decompress it: `zstd -d FILE`" };
const XZ: Foreign = Foreign { what: "compressed with xz", instead: "decompress it: `xz -d FILE`" };
const BZIP2: Foreign = Foreign { what: "compressed with bzip2", instead: "decompress it: `bzip2 -d FILE`" };
const LZ4: Foreign = Foreign { what: "compressed with lz4", instead: "decompress it: `lz4 -d FILE`" };
const TAR: Foreign = Foreign { what: "a tar archive", instead: "unpack it, `tar -xf FILE`, and name the file in it" };
const BINPACK: Foreign = Foreign {
    what: "a binpack, positions as Stockfish's trainer has them",
    instead: "write lines of `FEN | score | result`, or convert it to BulletFormat",
};
const GGUF: Foreign = Foreign {
    what: "a GGUF model, a language model quantised already",
    instead: "Tamis has no transformers; give the float checkpoint of a network of dense or sparse layers",
};
const PNG: Foreign = Foreign {
    what: "a PNG picture",
    instead: "examples are arrays: `import numpy, PIL.Image; numpy.savez(\"pictures.npz\", \
              numpy.stack([numpy.asarray(PIL.Image.open(file)) for file in FILES]))`, all of one size",
};
const JPEG: Foreign = Foreign { what: "a JPEG picture", ..PNG };
const GIF: Foreign = Foreign { what: "a GIF picture", ..PNG };
const WAV: Foreign = Foreign {
    what: "a sound file",
    instead: "examples are arrays of what the network takes, its spectrograms for instance: `numpy.savez` writes them",
};
const PARQUET: Foreign = Foreign {
    what: "a Parquet table",
    instead: "examples are arrays: `import numpy, pandas; numpy.save(\"examples.npy\", \
              pandas.read_parquet(FILE).to_numpy(numpy.float32))`",
};
const ZIP: Foreign = Foreign {
    what: "a zip archive whose first file is no array",
    instead: "an npz holds .npy files alone; `numpy.savez` writes one",
};

/// The form that a file's first bytes are of, if it is a known one that is not read. A `raw.bin` may begin with
/// anything; its length is asked first.
#[must_use]
pub fn foreign(start: &[u8]) -> Option<Foreign> {
    if start.starts_with(b"PK\x03\x04") {
        return of_zip(start);
    }
    const TAR_MARK_OFFSET_BYTES: usize = 257;
    let found = [
        (start.starts_with(b"\xFD7zXZ\0"), XZ),
        (start.starts_with(b"BZh") && start.get(4..10) == Some(b"1AY&SY"), BZIP2),
        (start.starts_with(&[4, 0x22, 0x4D, 0x18]), LZ4),
        (start.starts_with(b"BINP"), BINPACK),
        (start.get(TAR_MARK_OFFSET_BYTES..).is_some_and(|mark| mark.starts_with(b"ustar")), TAR),
        (start.starts_with(b"\x89PNG\r\n\x1a\n"), PNG),
        (start.starts_with(&[0xFF, 0xD8, 0xFF]), JPEG),
        (start.starts_with(b"GIF87a") || start.starts_with(b"GIF89a"), GIF),
        (start.starts_with(b"RIFF") && start.get(8..12) == Some(b"WAVE"), WAV),
        (start.starts_with(b"PAR1"), PARQUET),
        (start.starts_with(b"\x89HDF\r\n\x1a\n"), HDF5),
        (start.starts_with(b"GGUF"), GGUF),
        (start.starts_with(&[0x28, 0xB5, 0x2F, 0xFD]), ZSTD),
        (start.starts_with(&[0x1F, 0x8B, 8]), GZIP),
        // A safetensors header can be as long as these bytes say.
        (matches!(start, [0x80, 2..=5, ..]) && start.get(2..9) != Some(b"\0\0\0\0\0\0{"), PICKLE),
    ];
    found.iter().find(|(is_it, _)| *is_it).map(|(_, foreign)| *foreign)
}

/// By the name of the first file in it.
fn of_zip(start: &[u8]) -> Option<Foreign> {
    let len = u16::from_le_bytes(*start.get(26..)?.first_chunk()?);
    let name = start.get(30..30 + usize::from(len))?;
    let is = |end: &[u8]| name.ends_with(end);
    if is(b".npy") {
        None
    } else if is(b"/data.pkl")
        || is(b"/version")
        || is(b"/byteorder")
        || is(b"/.format_version")
        || is(b"constants.pkl")
    {
        Some(PYTORCH)
    } else if is(b"config.json") || is(b"metadata.json") || is(b"model.weights.h5") {
        Some(KERAS)
    } else {
        Some(ZIP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zip(name: &str) -> Vec<u8> {
        let len = u16::try_from(name.len()).unwrap().to_le_bytes();
        [b"PK\x03\x04".as_slice(), &[0; 22], &len, &[0; 2], name.as_bytes()].concat()
    }

    #[test]
    fn forms_are_told_by_their_first_bytes() {
        for (start, expected) in [
            (&b"\x89HDF\r\n\x1a\n\0"[..], HDF5),
            (b"GGUF\x03\0\0\0", GGUF),
            (b"\x1f\x8b\x08\0", GZIP),
            (b"\x28\xb5\x2f\xfd\x04", ZSTD),
            (b"\x80\x02}q\0", PICKLE),
            (b"\xFD7zXZ\0\0\x04", XZ),
            (b"BZh91AY&SY\0", BZIP2),
            (b"\x04\x22\x4D\x18\x40", LZ4),
            (b"BINP\x10\0\0\0", BINPACK),
            (&[&[b'a'; 257][..], b"ustar\0"].concat(), TAR),
            (&zip("archive/data.pkl"), PYTORCH),
            (&zip("metadata.json"), KERAS),
            (&zip("notes.txt"), ZIP),
        ] {
            assert_eq!(foreign(start), Some(expected), "{}", start.escape_ascii());
        }
        for start in [
            &b""[..],
            b"PK",
            b"\x80\x02\0\0\0\0\0\0{\"a\"",
            b"l0w\n\x04\0\0\0",
            b"PK\x03\x04",
            &zip("fc1.weight.npy"),
            b"{\"layers\": [",
        ] {
            assert_eq!(foreign(start), None, "{}", start.escape_ascii());
        }
    }
}
