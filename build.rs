//! Lets the linker make the release binary smaller where it can.
#![allow(clippy::disallowed_methods, reason = "cargo talks to this program by the environment")]

use std::env::var;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=RUSTC_LINKER");
    // Linking takes longer with these; everyday builds do without.
    if !var("PROFILE").is_ok_and(|profile| profile == "release") || !links_with_lld() {
        return;
    }
    // Functions of the same code become one. Rust promises no function an address of its own.
    println!("cargo:rustc-link-arg-bins=-Wl,--icf=all");
    if relative_relocations_are_read() {
        println!("cargo:rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// True if rustc links with the linker that came with it. Others do not know the option.
fn links_with_lld() -> bool {
    let target = var("TARGET").unwrap_or_default();
    let another = var("RUSTC_LINKER").is_ok() || var("CARGO_ENCODED_RUSTFLAGS").is_ok_and(|flags| flags.contains("link"));
    // The one target for which it is the default.
    if another || target != "x86_64-unknown-linux-gnu" {
        return false;
    }
    let rustc = Command::new(var("RUSTC").unwrap_or("rustc".into())).args(["--print", "sysroot"]).output();
    let root = rustc.map(|said| String::from_utf8_lossy(&said.stdout).trim().to_owned()).unwrap_or_default();
    PathBuf::from(root).join("lib/rustlib").join(target).join("bin/gcc-ld/ld.lld").exists()
}

/// True if the C library of this machine, on which the binary is built to run, reads packed
/// relocations: glibc does from 2.36 on.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn relative_relocations_are_read() -> bool {
    unsafe extern "C" {
        safe fn gnu_get_libc_version() -> *const std::ffi::c_char;
    }
    // SAFETY: glibc returns a text of its own that ends in NUL and stays.
    let version = unsafe { std::ffi::CStr::from_ptr(gnu_get_libc_version()) }.to_string_lossy();
    let mut numbers = version.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
    (numbers.next(), numbers.next()) >= (Some(2), Some(36)) && var("HOST") == var("TARGET")
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn relative_relocations_are_read() -> bool {
    false
}
