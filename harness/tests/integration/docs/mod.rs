//! Facts about the program in the documentation are those of the program: names, numbers, commands
//! and places are compared, so that a fact that changes without its page fails here.

mod ci_examples;
mod commands;
mod limits;
mod pages;
mod places;
mod tables;
