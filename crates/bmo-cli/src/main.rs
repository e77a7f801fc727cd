//! The tool `bmo`.

fn main() {}
