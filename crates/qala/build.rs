//! Tells the program what it is built for: only a build script knows.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Ok(target) = std::env::var("TARGET") {
        println!("cargo::rustc-env=BUILD_TARGET={target}");
    }
}
