//! What the documentation says of the program is what the program is: names, numbers, commands and
//! places are compared, so that a fact that changes without its page fails here.

mod commands;
mod limits;
mod pages;
mod places;
mod tables;
