//! Passes the target triple to the compiler as `BUILD_TARGET`; only a build script knows it.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if let Ok(target) = std::env::var("TARGET") {
        println!("cargo::rustc-env=BUILD_TARGET={target}");
    }
}
