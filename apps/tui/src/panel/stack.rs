//! Panels in front of each other: Esc leads back, one at a time.

use super::{Panel, PanelAct, Written};
use crate::status::Status;
use crate::theme::Theme;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;

/// Panels, the one in front last. There is always one.
pub(crate) struct Stack {
    front: Box<dyn Panel>,
    behind: Vec<Box<dyn Panel>>,
}

impl Stack {
    /// A panel, and what it needs.
    pub(crate) fn new(mut front: Box<dyn Panel>) -> (Self, PanelAct) {
        let act = front.begin();
        (Self { front, behind: Vec::new() }, act)
    }

    fn follow(&mut self, act: PanelAct) -> PanelAct {
        match act {
            PanelAct::Show(next) => {
                self.behind.push(std::mem::replace(&mut self.front, next));
                let act = self.front.begin();
                self.follow(act)
            }
            PanelAct::Close => match self.behind.pop() {
                Some(before) => {
                    self.front = before;
                    let act = self.front.begin();
                    self.follow(act)
                }
                None => PanelAct::Close,
            },
            act => act,
        }
    }
}

impl Panel for Stack {
    fn title(&self) -> String {
        self.front.title()
    }

    fn keys(&self) -> String {
        self.front.keys()
    }

    fn draw(&mut self, area: Rect, buf: &mut Buffer, theme: Theme) {
        self.front.draw(area, buf, theme);
    }

    fn key(&mut self, key: KeyEvent) -> PanelAct {
        let act = self.front.key(key);
        self.follow(act)
    }

    fn update(&mut self, status: &Status) {
        self.front.update(status);
        for panel in &mut self.behind {
            panel.update(status);
        }
    }

    fn answered(&mut self, said: Written) -> Result<PanelAct, Written> {
        let act = self.front.answered(said)?;
        Ok(self.follow(act))
    }
}
