//! A dense network that is a part of the program: which digit is this, on 8 by 8 pixels?
//!
//! `cargo run --release -p tamis-runtime --example dense`

use tamis_runtime::{Input, Plan, Workspace, format::Model, include_model, kernels};

static NET: &[u8] = include_model!("../../firmware-examples/programs/src/digits.quantised.bin");

/// From white to black `.`, `+` and `#`; the network takes 0 to 127.
const IMAGE: [&[u8; 8]; 8] =
    [b"..+###+.", b"..#++#+.", b"....+#..", b"..+####.", b".+####..", b"...#+...", b"..+#....", b"..#+...."];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plan = Plan::new(Model::parse(NET)?, kernels::best()); // checks every byte, copies none; shared by all threads
    let mut scratch = Workspace::<256>::new(); // what `host-tools inspect` prints; one a thread
    let shade = |pixel: &u8| if *pixel == b'#' { 127 } else { 64 * u8::from(*pixel == b'+') };
    let input: Vec<u8> = IMAGE.into_iter().flatten().map(shade).collect();
    let scores: &[i32; 10] = plan.run(Input::U8(&input), 0, scratch.as_mut())?.try_into()?;
    let digit = (0..10).max_by_key(|digit| scores[*digit]).unwrap_or(0);
    println!("it is a {digit}: {scores:?}");
    Ok(())
}
