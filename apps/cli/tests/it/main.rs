//! The built program, run as people and programs run it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    reason = "tests"
)]

mod agents;
mod attacks;
mod commands;
#[cfg(target_os = "linux")]
mod corpus;
mod desk;
mod doctor;
#[cfg(target_os = "linux")]
mod doors;
mod dream;
mod extract;
#[cfg(target_os = "linux")]
mod fleet;
#[cfg(target_os = "linux")]
mod fleet_login;
mod headless;
mod hook;
#[cfg(target_os = "linux")]
mod hook_worker;
mod hooks;
#[cfg(target_os = "linux")]
mod host_files;
mod host_login;
mod hostile;
mod import;
mod inbox;
mod install;
mod instructions;
mod interactive;
mod letters;
mod local;
mod local_model;
mod local_windows;
mod looking;
mod masked;
mod mcp;
mod memory;
mod memory_tool;
mod models;
mod opencode_db;
mod plugins;
mod private;
mod recall;
mod replay;
mod rewind;
mod robust;
mod sandbox;
mod screen;
mod secrets;
mod seed;
mod sessions;
mod setups;
mod team;
#[cfg(target_os = "linux")]
mod team_dream;
#[cfg(target_os = "linux")]
mod team_git;
mod terminal;
mod trust;
mod waits;
mod web;
mod window;
mod writers;
