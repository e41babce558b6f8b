/** A dense input as the network stores it: a type an element type, `facts.input.element`. */
export type Dense = Uint8Array | Int8Array | Float32Array;

/** A value on the way through a network. */
export type Value = Uint8Array | Int8Array | Int16Array | Int32Array | Float32Array;

/** What comes out. */
export interface Outputs {
  /** As the network stores it: Int32Array where it ends in integers. */
  stored: Int32Array | Float32Array;
  /** The same times `facts.outputUnit`: what `host-tools eval` prints. */
  reals: Float64Array;
}

/** What each piece adds to the value of a position. */
export interface Shares {
  /** The value, seen by white; by the side to move where the network has several outputs, of which it is the first. */
  value: number;
  pieces: {
    /** `e4` */
    square: string;
    /** The letter of a FEN, white's a capital. */
    piece: string;
    /** The value less the one without this piece; null of a king, which cannot be taken off. */
    share: number | null;
  }[];
}

/** Height, width and channels; of a vector 1, 1 and its length. */
export type Shape = [height: number, width: number, channels: number];

/** What a file says of its network. */
export interface Facts {
  name: string;
  /** The description of its layers, TOML. */
  description: string;
  /** The kind of file that it was made of, and that file's FNV-1a as sixteen hexadecimal digits. */
  source: string;
  sourceHash: string;
  lenBytes: number;
  formatVersion: number;
  /** Sixteen hexadecimal digits. */
  checksum: string;
  /** Scratch memory of one evaluation. */
  workspaceLenBytes: number;
  /** The runtime's tier that evaluates. */
  tier: string;
  input: {
    kind: "features" | "dense" | "sparse";
    /** Length of a dense input, or number of features. */
    size: number;
    shape: Shape;
    /** `u8`, `i8` or `f32` of a dense input, `i16` of a sparse one with values, else empty. */
    element: string;
    /** The real value of a 1, and the integer that stands for 0. */
    unit: number;
    zero: number;
    /** The most features at once; of those of accumulators, in one perspective. */
    maxActive: number;
    /** Whether it is always that many. */
    exact: boolean;
    /** Width of an accumulator, and how many there are; 0 without. */
    hidden: number;
    perspectives: number;
  };
  /** Of a network over positions of chess. */
  chess: null | {
    featuresPerKingBucket: number;
    kingBuckets: number;
    mirrored: boolean;
    kings: "both" | "merged" | "none";
    relations: null | string;
  };
  outputBuckets: number;
  outputs: number;
  outputElement: string;
  /** The real value of a 1 of the outputs. */
  outputUnit: number;
  /** In the order in which they run. Value 0 is the input. */
  operations: {
    kind: string;
    input: number;
    inputLen: number;
    second: number | null;
    output: number;
    outputElement: string;
    outputShape: Shape;
    /** The integer that stands for 0 in it. */
    outputZero: number;
    /** Name of the tensor of weights. */
    weights: string | null;
    activation: string | null;
  }[];
  tensors: {
    name: string;
    element: string;
    /** Matrices, one an output bucket. */
    banks: number;
    rows: number;
    cols: number;
    layout: string;
    lenBytes: number;
    /**
     * What the file claims to be proved: `accumulator-fits`, `sum-fits`, `product-fits-i16`, `quads-fit-i16`. The
     * loader checks the last; `host-tools inspect` proves all of them again.
     */
    claims: string[];
  }[];
}

/**
 * A network: a `quantised.bin` that was checked, every byte of it.
 *
 * It has memory of WebAssembly's, which `free()` gives back at once; otherwise it is given back some time after the
 * last use. `bucket` is the output bucket, 0 for networks without.
 */
export class Network {
  private constructor();
  readonly facts: Facts;
  /** Sixteen hexadecimal digits, for one file the same on every machine; `host-tools inspect` prints them too. */
  signature(): string;
  /**
   * Real numbers as the array that `run` takes: each is divided by the input's unit and rounded, halves away from 0;
   * what is beyond the range goes to its nearest end.
   */
  quantise(reals: Float64Array | number[]): Dense;
  /** Evaluates a dense input: as many elements as `facts.input.size`, of the array type of `facts.input.element`. */
  run(input: Dense, bucket?: number): Outputs;
  /** The same, and every value on the way: an entry an operation, in the order of `facts.operations`. */
  trace(input: Dense, bucket?: number): Value[];
  /** Evaluates a sparse input: the features that are not 0, in ascending order, and their values if it takes values. */
  runSparse(features: Uint32Array, values?: Int16Array, bucket?: number): Outputs;
  /** Evaluates features of accumulators that the caller numbers: the side to move's, and the other side's. */
  runFeatures(own: Uint32Array, other?: Uint32Array, bucket?: number): Outputs;
  /** Evaluates a position of chess for the side to move. */
  evaluate(fen: string): Outputs;
  /** What each piece adds to the value of a position of chess. */
  shares(fen: string): Shares;
  /** The accumulators of a position of chess, the side to move's first. */
  accumulators(fen: string): Int16Array[];
  free(): void;
  [Symbol.dispose](): void;
}

/**
 * Reads a network, checks it and makes it ready. In Node, text that is no address of the web is a path.
 *
 * The promise is rejected with an `Error` in the loader's words (where, what was found, what was expected), or with the
 * HTTP status.
 */
export function load(
  source: string | URL | Request | Response | Blob | ArrayBuffer | ArrayBufferView,
): Promise<Network>;
