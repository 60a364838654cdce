//! The logical processes of one client. A process does one thing at a time, and none after an
//! outcome that nobody knows: a client that does several at once needs as many, and then new ones.
//!
//! The first processes of the clients are 0, 1, 2 ...; whichever come later are that plus a
//! multiple of the number of clients, so that no two clients share one.

/// Things that a client does at once, each on a lane with its own process.
#[derive(Debug)]
pub struct Processes {
    /// Distance between two processes of one client.
    stride: u64,
    /// The first that was not used yet.
    unused: u64,
    /// The process of each lane.
    lanes: Vec<u64>,
}

/// The lane of what the client is told to do; those from 1 on are its watchdog's.
pub const MAIN: usize = 0;

impl Processes {
    /// Of the client whose first process is `first`, one of as many as `clients`.
    pub fn new(first: u64, clients: u64) -> Self {
        Self {
            stride: clients,
            unused: first + clients,
            lanes: vec![first],
        }
    }

    /// The process of `lane`. A lane is taken into use after those before it.
    pub fn of(&mut self, lane: usize) -> u64 {
        while self.lanes.len() <= lane {
            let process = self.draw();
            self.lanes.push(process);
        }
        self.lanes[lane]
    }

    /// Nobody knows how the last operation of `lane` ended: another process goes on.
    pub fn retire(&mut self, lane: usize) {
        self.of(lane);
        self.lanes[lane] = self.draw();
    }

    fn draw(&mut self) -> u64 {
        let process = self.unused;
        self.unused += self.stride;
        process
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_process_is_used_on_two_lanes_or_after_its_end() {
        let mut processes = Processes::new(1, 3);
        assert_eq!(processes.of(MAIN), 1);
        assert_eq!([1, 2].map(|lane| processes.of(lane)), [4, 7]);
        processes.retire(MAIN);
        processes.retire(2);
        assert_eq!(
            [MAIN, 1, 2, 3].map(|lane| processes.of(lane)),
            [10, 4, 13, 16]
        );
        processes.retire(5);
        assert_eq!([4, 5].map(|lane| processes.of(lane)), [19, 25]);
    }
}
