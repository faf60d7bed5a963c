//! The `tcp` of a traffic entry: a preset or a flavour, and the parameters of this TCP.

use crate::keys::below;
use crate::model::{Congestion, Control, Flavour, TCP_PRESETS, Tcp};
use crate::reader::Reader;
use crate::source::error::instead;
use crate::source::tree::{Node, Table};
use aqm::params::{Field as _, ParamKind, Params as _, Spec, Value};

impl Reader<'_> {
    /// The TCP in `node`, and its preset if one is named.
    pub(super) fn tcp(&mut self, node: &Node, path: &str) -> (Tcp, Option<String>) {
        let Some(table) = self.table(node, path) else { return (Tcp::default(), None) };
        let mut tcp = Tcp::unnamed(table.text("flavour"));
        let presets = TCP_PRESETS.iter().map(|(name, _)| *name);
        if let (Some(_), Some(name)) = (node.text(), table.text("flavour"))
            && tcp.set("flavour", &Value::Text(name.to_owned())).is_err()
        {
            let ParamKind::Choice(flavours) = Flavour::KIND else { unreachable!("flavours are names") };
            let hint = instead(name, flavours.iter().copied().chain(presets));
            self.refuse(path, node.shown(), format!("no such TCP; {hint}"));
            return (tcp, None);
        }
        if let Some(preset) = table.get("preset") {
            match preset.text().and_then(Tcp::preset) {
                Some(values) => tcp = values,
                None => {
                    let hint = instead(preset.text().unwrap_or_default(), presets);
                    self.refuse(&below(path, "preset"), preset.shown(), format!("no such preset; {hint}"));
                }
            }
        }
        let control = table.get("congestion").filter(|node| node.expanded("congestion").is_some());
        let others = ["preset", "congestion"];
        let others = &others[..others.len() - usize::from(control.is_none())];
        self.assign(&table, path, Tcp::specs(), others, &[], &mut |key, value| tcp.set(key, value));
        if let Some(control) = control.and_then(|node| self.control(node, &below(path, "congestion"))) {
            tcp.congestion = Congestion::UserDefined(control);
        }
        self.controls(&table, path, &tcp);
        (tcp, table.text("preset").map(str::to_owned))
    }

    /// The user-defined congestion control in `node`.
    fn control(&mut self, node: &Node, path: &str) -> Option<Control> {
        let table = self.table(node, path)?;
        let Some(name) = table.get("name") else {
            self.refuse(
                &below(path, "name"),
                None,
                "missing: must be a file and a class, like \"mine.py:Mine\"",
            );
            return None;
        };
        let Some(reference) = self.document.reference(name) else {
            let message = "must be a file and a class, like \"mine.py:Mine\"; other controls have no table";
            self.refuse(&below(path, "name"), name.shown(), message);
            return None;
        };
        match Control::find(&reference, table.text("source")) {
            Ok(mut params) => {
                let specs = params.specs();
                self.assign(&table, path, specs, &["name", "source"], &[], &mut |key, value| {
                    params.set(key, value)
                });
                Some(Control::of(params))
            }
            Err(message) => {
                self.refuse(&below(path, "name"), name.shown(), message);
                None
            }
        }
    }

    /// Refuses parameters that this TCP does not have, and a congestion control that its flavour does not.
    fn controls(&mut self, table: &Table, path: &str, tcp: &Tcp) {
        if !self.fine(&[&below(path, "congestion"), &below(path, "flavour")]) {
            return;
        }
        if let Some(fit) = tcp.misfit() {
            let (congestion, flavour) = (tcp.congestion.name(), tcp.flavour.value());
            let message = format!("flavour = {flavour} has no such control; take {fit}");
            self.refuse(&below(path, "congestion"), Some(congestion.to_string()), message);
            return;
        }
        for (key, node) in table.iter() {
            let named = |spec: &&Spec| spec.name == key || spec.aliases.contains(&key);
            let Some((what, others, own)) =
                Tcp::specs().iter().find(named).and_then(|spec| tcp.inapplicable(spec.name))
            else {
                continue;
            };
            let message = format!("only for {what} = {others}; this TCP's is {own}");
            self.refuse(&below(path, key), node.shown(), message);
        }
    }
}
