//! One page: what a reader does to it, and what it shows.

use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::chromium::Chromium;

/// Size of the window that a page begins with, in CSS pixels.
const WINDOW: (u32, u32) = (1280, 900);

/// The shift key, as the protocol counts keys that are held.
const SHIFT: u32 = 8;

/// Colour scheme that the reader's system prefers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Light,
    Dark,
}

/// A key on the keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Tab,
    Enter,
    Escape,
    Left,
    Right,
    /// One that writes a character.
    Letter(char),
}

/// A page in a window of its own; it is closed when this is dropped.
#[derive(Debug)]
pub struct Page {
    chromium: Arc<Chromium>,
    context: String,
    session: String,
}

fn text_of(value: &Value, member: &str) -> String {
    value[member].as_str().unwrap_or_default().to_owned()
}

impl Page {
    /// An empty page; `None`, said loudly, where there is no browser.
    pub fn new() -> Option<Self> {
        let chromium = Chromium::shared()?;
        let context = chromium.command(None, "Target.createBrowserContext", &json!({}));
        let context = text_of(&context, "browserContextId");
        let blank = json!({ "url": "about:blank", "browserContextId": context });
        let target = chromium.command(None, "Target.createTarget", &blank);
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = chromium.command(None, "Target.attachToTarget", &attach);
        let page = Self {
            session: text_of(&attached, "sessionId"),
            chromium,
            context,
        };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            page.command(&format!("{domain}.enable"), &json!({}));
        }
        page.command(
            "Page.setLifecycleEventsEnabled",
            &json!({ "enabled": true }),
        );
        // Several pages are open at once, and each is to behave as the one in front.
        let focused = json!({ "enabled": true });
        page.command("Emulation.setFocusEmulationEnabled", &focused);
        page.resize(WINDOW, 1.0);
        Some(page)
    }

    fn command(&self, method: &str, params: &Value) -> Value {
        self.chromium.command(Some(&self.session), method, params)
    }

    /// Sets the window's size in CSS pixels, and how many pixels of a picture make one of them.
    pub fn resize(&self, (width, height): (u32, u32), scale: f64) {
        let metrics = json!({
            "width": width, "height": height, "deviceScaleFactor": scale, "mobile": false
        });
        self.command("Emulation.setDeviceMetricsOverride", &metrics);
    }

    /// From now on no script of the page runs.
    pub fn without_scripts(&self) {
        let off = json!({ "value": true });
        self.command("Emulation.setScriptExecutionDisabled", &off);
    }

    /// A picture on paper has nothing to scroll.
    pub fn hide_scrollbars(&self) {
        let hidden = json!({ "hidden": true });
        self.command("Emulation.setScrollbarsHidden", &hidden);
    }

    /// The reader prefers this scheme, and reads on a screen or on paper.
    pub fn prefers(&self, scheme: Scheme, on_paper: bool) {
        let value = match scheme {
            Scheme::Light => "light",
            Scheme::Dark => "dark",
        };
        let media = json!({
            "media": if on_paper { "print" } else { "" },
            "features": [{ "name": "prefers-color-scheme", "value": value }],
        });
        self.command("Emulation.setEmulatedMedia", &media);
    }

    /// Opens a file and waits until it is loaded. `hash` is what a link would have after the `#`.
    pub fn visit(&self, file: &Path, hash: &str) {
        let mut url = format!("file://{}", file.display());
        if !hash.is_empty() {
            url = format!("{url}#{hash}");
        }
        let loader = self.command("Page.navigate", &json!({ "url": url }))["loaderId"].take();
        let devtools = self.chromium.devtools();
        devtools.event(&self.session, "Page.lifecycleEvent", |event| {
            event["name"] == "load" && event["loaderId"] == loader
        });
    }

    /// The value of an expression in the page; what throws fails the test.
    pub fn evaluate(&self, expression: &str) -> Value {
        let params = json!({
            "expression": expression, "returnByValue": true, "awaitPromise": true
        });
        let mut answer = self.command("Runtime.evaluate", &params);
        if let Some(thrown) = answer.get("exceptionDetails") {
            panic!("{expression}: {thrown}");
        }
        answer["result"]["value"].take()
    }

    /// Evaluates an expression that gives a number.
    pub fn number(&self, expression: &str) -> f64 {
        let value = self.evaluate(expression);
        value
            .as_f64()
            .unwrap_or_else(|| panic!("{expression} is no number but {value}"))
    }

    /// Evaluates an expression that gives a text.
    pub fn text(&self, expression: &str) -> String {
        let value = self.evaluate(expression);
        match value.as_str() {
            Some(text) => text.to_owned(),
            None => panic!("{expression} is no text but {value}"),
        }
    }

    /// Number of elements.
    pub fn count(&self, selector: &str) -> u64 {
        self.number(&format!("document.querySelectorAll({selector:?}).length")) as u64
    }

    /// How many of them can be seen.
    pub fn seen(&self, selector: &str) -> u64 {
        self.number(&format!(
            "[...document.querySelectorAll({selector:?})]
               .filter((element) => element.checkVisibility()).length"
        )) as u64
    }

    /// Waits until an expression is true in the page.
    pub fn wait_until(&self, condition: &str) {
        self.evaluate(&format!(
            "new Promise((done) => {{
               const look = () => {{ if ({condition}) done(); else setTimeout(look, 10); }};
               look();
             }})"
        ));
    }

    /// Waits until the page has drawn what it knew of when this began.
    pub fn wait_until_drawn(&self) {
        self.evaluate(
            "new Promise((done) => {
               requestAnimationFrame(() => requestAnimationFrame(() => done(true)));
             })",
        );
    }

    /// Presses a key and lets it go, wherever the focus is.
    pub fn press(&self, key: Key) {
        let (name, code, written) = match key {
            Key::Tab => ("Tab".to_owned(), 9, String::new()),
            Key::Enter => ("Enter".to_owned(), 13, "\r".to_owned()),
            Key::Escape => ("Escape".to_owned(), 27, String::new()),
            Key::Left => ("ArrowLeft".to_owned(), 37, String::new()),
            Key::Right => ("ArrowRight".to_owned(), 39, String::new()),
            Key::Letter(letter) => {
                let code = u32::from(letter.to_ascii_uppercase());
                (letter.to_string(), code, letter.to_string())
            }
        };
        let down = json!({
            "type": "keyDown", "key": name, "windowsVirtualKeyCode": code, "text": written
        });
        self.command("Input.dispatchKeyEvent", &down);
        let up = json!({ "type": "keyUp", "key": name, "windowsVirtualKeyCode": code });
        self.command("Input.dispatchKeyEvent", &up);
    }

    /// Writes a text where the focus is.
    pub fn write(&self, text: &str) {
        self.command("Input.insertText", &json!({ "text": text }));
    }

    /// Turns the wheel over a point; away from the reader is negative.
    pub fn wheel(&self, (x, y): (f64, f64), turned: f64) {
        let wheel = json!({
            "type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": turned
        });
        self.command("Input.dispatchMouseEvent", &wheel);
    }

    /// Moves the pointer to a point and presses its button there once.
    pub fn click(&self, (x, y): (f64, f64)) {
        let mouse = |kind: &str, clicks: u32| {
            let event = json!({
                "type": kind, "x": x, "y": y, "button": "left", "clickCount": clicks
            });
            self.command("Input.dispatchMouseEvent", &event);
        };
        mouse("mouseMoved", 0);
        mouse("mousePressed", 1);
        mouse("mouseReleased", 1);
    }

    /// Presses the button at one point, and lets it go at another; with the shift key or without.
    pub fn drag(&self, from: (f64, f64), to: (f64, f64), with_shift: bool) {
        let mouse = |kind: &str, (x, y): (f64, f64), buttons: u32| {
            let event = json!({
                "type": kind, "x": x, "y": y, "button": "left", "buttons": buttons,
                "clickCount": 1, "modifiers": if with_shift { SHIFT } else { 0 },
            });
            self.command("Input.dispatchMouseEvent", &event);
        };
        mouse("mouseMoved", from, 0);
        mouse("mousePressed", from, 1);
        mouse("mouseMoved", (f64::midpoint(from.0, to.0), to.1), 1);
        mouse("mouseMoved", to, 1);
        mouse("mouseReleased", to, 0);
    }

    /// Puts two fingers on a point, so far apart, and moves them to another distance.
    pub fn pinch(&self, (x, y): (f64, f64), from: f64, to: f64) {
        let touch = |kind: &str, apart: Option<f64>| {
            let finger = |id: u32, x: f64| json!({ "id": id, "x": x, "y": y });
            let fingers = apart.map_or_else(Vec::new, |apart| {
                vec![finger(0, x - apart / 2.0), finger(1, x + apart / 2.0)]
            });
            let event = json!({ "type": kind, "touchPoints": fingers });
            self.command("Input.dispatchTouchEvent", &event);
        };
        touch("touchStart", Some(from));
        touch("touchMove", Some(f64::midpoint(from, to)));
        touch("touchMove", Some(to));
        touch("touchEnd", None);
    }

    /// A PNG picture of the rectangle (x, y, width, height) of the page, which must be in sight:
    /// to reach further the browser would enlarge the window, and catch the page before it has
    /// followed.
    pub fn picture(&self, [x, y, width, height]: [f64; 4]) -> Vec<u8> {
        let clip = json!({ "x": x, "y": y, "width": width, "height": height, "scale": 1 });
        let params = json!({ "format": "png", "clip": clip });
        decoded(&self.command("Page.captureScreenshot", &params))
    }

    /// The page as a PDF document.
    pub fn printed(&self) -> Vec<u8> {
        let params = json!({ "printBackground": false, "paperWidth": 8.27, "paperHeight": 11.7 });
        decoded(&self.command("Page.printToPDF", &params))
    }

    /// Complaints of the page: exceptions, errors and warnings of the console, dialogs.
    pub fn complaints(&self) -> Vec<String> {
        let events = self.chromium.devtools().events(&self.session);
        let is_complaint = |event: &&Value| {
            let params = &event["params"];
            match event["method"].as_str().unwrap_or_default() {
                "Runtime.exceptionThrown" | "Page.javascriptDialogOpening" => true,
                "Runtime.consoleAPICalled" => params["type"] != "log",
                "Log.entryAdded" => params["entry"]["level"] != "verbose",
                _ => false,
            }
        };
        let complaints = events.iter().filter(is_complaint);
        complaints.map(Value::to_string).collect()
    }

    /// The addresses of all that the page has asked for, itself included.
    pub fn requests(&self) -> Vec<String> {
        let events = self.chromium.devtools().events(&self.session);
        let requests = events
            .iter()
            .filter(|event| event["method"] == "Network.requestWillBeSent");
        requests
            .map(|event| text_of(&event["params"]["request"], "url"))
            .collect()
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let devtools = self.chromium.devtools();
        let context = json!({ "browserContextId": self.context });
        devtools.tell(None, "Target.disposeBrowserContext", &context);
        devtools.forget(&self.session);
    }
}

fn decoded(answer: &Value) -> Vec<u8> {
    let text = answer["data"].as_str().expect("there is a file in it");
    STANDARD.decode(text).expect("it is written in base64")
}
