//! Generates the code from `proto/`, without a `protoc` on the machine.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

use prost::Message as _;

/// The interfaces; what they import is found from them.
const FILES: [&str; 6] = [
    "tailback/v1/error.proto",
    "tailback/v1/file_service.proto",
    "tailback/v1/run_service.proto",
    "tailback/v1/scenario_service.proto",
    "tailback/v1/result_service.proto",
    "tailback/v1/system_service.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    // Of this checkout: the folder for what is built may be shared with others.
    let proto = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../proto");
    println!("cargo::rerun-if-changed={}", proto.display());
    let descriptors = protox::compile(FILES, [&proto])?;
    let file = Path::new(&env::var("OUT_DIR")?).join("descriptors.bin");
    fs::write(file, descriptors.encode_to_vec())?;
    tonic_prost_build::configure()
        .bytes(".tailback.v1.ReadArtifactResponse.content")
        .bytes(".tailback.v1.UploadFileRequest.content")
        .compile_fds(descriptors)?;
    Ok(())
}
