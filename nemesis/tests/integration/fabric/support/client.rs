//! A client of a few lines: one command, one reply, no hidden retries.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;

/// A server that has not answered by then is taken to be cut off.
const REPLY_WITHIN: Duration = Duration::from_secs(2);

/// A reply of RESP2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Text(String),
    Error(String),
    Integer(i64),
    Nil,
    Array(Vec<Reply>),
}

impl Reply {
    /// Text and numbers as text; everything else as nothing.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Error(_) | Self::Integer(_) | Self::Nil | Self::Array(_) => "",
        }
    }
}

/// One connection to a server.
pub(crate) struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    /// Connects to `server` from the address `from`.
    pub(crate) async fn connect(from: IpAddr, server: SocketAddr) -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.bind((from, 0).into())?;
        let stream = socket.connect(server).await?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream: BufReader::new(stream),
        })
    }

    /// Sends one command and reads its reply.
    pub(crate) async fn call(&mut self, args: &[&str]) -> io::Result<Reply> {
        self.send(args).await?;
        timeout(REPLY_WITHIN, self.reply())
            .await
            .map_err(|_| io::ErrorKind::TimedOut)?
    }

    /// Sends one command and leaves its reply unread.
    pub(crate) async fn send(&mut self, args: &[&str]) -> io::Result<()> {
        let head = format!("*{}\r\n", args.len());
        let bulk = |arg: &&str| format!("${}\r\n{arg}\r\n", arg.len());
        let command = head + &args.iter().map(bulk).collect::<Vec<_>>().concat();
        self.stream.write_all(command.as_bytes()).await
    }

    /// Reads one reply, however long it takes.
    pub(crate) async fn reply(&mut self) -> io::Result<Reply> {
        let mut line = String::new();
        if self.stream.read_line(&mut line).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let line = line.trim_end();
        let (kind, rest) = line.split_at(1);
        let size = || rest.parse::<i64>().expect("a server sends numbers here");
        match kind {
            "+" => Ok(Reply::Text(rest.to_owned())),
            "-" => Ok(Reply::Error(rest.to_owned())),
            ":" => Ok(Reply::Integer(size())),
            "$" if size() < 0 => Ok(Reply::Nil),
            "$" => {
                let mut bytes = vec![0; usize::try_from(size()).unwrap() + 2];
                self.stream.read_exact(&mut bytes).await?;
                bytes.truncate(bytes.len() - 2);
                Ok(Reply::Text(String::from_utf8_lossy(&bytes).into_owned()))
            }
            "*" => {
                let mut items = Vec::new();
                for _ in 0..size().max(0) {
                    items.push(Box::pin(self.reply()).await?);
                }
                Ok(Reply::Array(items))
            }
            _ => panic!("not a reply: {line}"),
        }
    }
}
