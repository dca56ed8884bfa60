//! Plugins in all their places.

use super::*;
use serde_json::json;
use std::fs;

struct Disk(tempfile::TempDir);

impl Disk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn plugin(&self, dir: &str, name: &str, version: &str) {
        let text = json!({"name": name, "version": version}).to_string();
        self.write(&format!("{dir}/.claude-plugin/plugin.json"), &text);
    }

    fn find(&self, given: &[&str], enabled: &Value) -> Found {
        find(&PluginDirs {
            given: given.iter().map(|dir| self.0.path().join(dir)).collect(),
            homes: vec![self.0.path().join("everfold"), self.0.path().join("claude")],
            data: self.0.path().join("data"),
            project: self.0.path().join("project"),
            enabled: enabled.as_object().unwrap().clone(),
        })
    }
}

fn ids(found: &Found) -> Vec<&str> {
    found.plugins.iter().map(|plugin| plugin.id.as_str()).collect()
}

#[test]
fn q7_plugins_are_found_in_all_places_and_off_unless_they_are_on() {
    let disk = Disk::new();
    disk.plugin("here", "given", "1");
    disk.plugin("claude/plugins/cache/shop/tidy/1.9.0", "tidy", "1.9.0");
    disk.plugin("claude/plugins/cache/shop/tidy/1.10.0", "tidy", "1.10.0");
    disk.plugin("claude/plugins/cache/shop/off/1.0.0", "off", "1");
    disk.plugin("elsewhere/listed", "listed", "3");
    let path = disk.0.path().join("elsewhere/listed");
    let list = json!({"version": 2, "plugins": {"listed@shop": [{"installPath": path}]}});
    disk.write("claude/plugins/installed_plugins.json", &list.to_string());
    disk.plugin("claude/plugins/marketplaces/fair/kits/stall", "stall", "1");
    let offers = json!({"name": "fair", "plugins": [
        {"name": "sly", "source": "./../../x"}, {"name": "stall", "source": "./kits/stall"}]});
    let file = "claude/plugins/marketplaces/fair/.claude-plugin/marketplace.json";
    disk.write(file, &offers.to_string());
    disk.plugin("claude/skills/kit", "kit", "1");
    disk.write("claude/skills/plain/SKILL.md", "no plugin");
    let off = r#"{"name": "shy", "defaultEnabled": false}"#;
    disk.write("claude/skills/shy/.claude-plugin/plugin.json", off);
    let on = json!({"tidy@shop": true, "listed@shop": true, "off@shop": false, "gone@shop": true,
                    "stall@fair": true});
    let found = disk.find(&["here"], &on);
    assert_eq!(
        ids(&found),
        ["given@inline", "tidy@shop", "listed@shop", "stall@fair", "kit@skills-dir"]
    );
    assert_eq!(found.plugins[1].version.as_deref(), Some("1.10.0"), "the newest copy");
    assert_eq!(found.problems.len(), 1);
    assert!(found.problems[0].contains("gone@shop is enabled but not installed"), "{found:?}");
    let said = json!({"kit@skills-dir": false, "shy@skills-dir": true});
    assert_eq!(ids(&disk.find(&[], &said)), ["shy@skills-dir"]);
}

#[test]
fn q7_parts_are_brought_together_and_filled_in() {
    let disk = Disk::new();
    disk.write(
        "p/.claude-plugin/plugin.json",
        &json!({"name": "p", "hooks": {"Stop": [{"hooks": [{"command": "two"}]}]},
                "mcpServers": "./more.json", "agents": "./only.md",
                "userConfig": {"token": {"default": "t"}}})
        .to_string(),
    );
    disk.write("p/only.md", "x");
    disk.write("p/agents/not.md", "x");
    disk.write("p/commands/say.md", "x");
    disk.write("p/bin/tool", "x");
    disk.write("p/CLAUDE.md", "not loaded");
    let hooks = json!({"hooks": {"Stop": [{"hooks": [{"command": "${CLAUDE_PLUGIN_ROOT}/one"}]}]}});
    disk.write("p/hooks/hooks.json", &hooks.to_string());
    disk.write("p/.mcp.json", &json!({"mcpServers": {"a": {"command": "x"}}}).to_string());
    disk.write("p/more.json", &json!({"b": {"command": "${user_config.token}"}}).to_string());
    let found = disk.find(&["p"], &json!({}));
    assert!(found.problems.is_empty(), "{found:?}");
    let own = &found.plugins[0];
    let root = disk.0.path().canonicalize().unwrap().join("p");
    let first = own.hooks["Stop"][0]["hooks"][0]["command"].as_str().unwrap();
    assert_eq!(first, root.join("one").display().to_string());
    assert_eq!(own.hooks["Stop"].as_array().unwrap().len(), 2);
    assert_eq!(own.servers["b"]["command"], "t");
    assert!(own.servers.contains_key("a"));
    assert_eq!(own.agents, [root.join("only.md")], "in place of the usual folder");
    assert_eq!(own.commands, [root.join("commands/say.md")]);
    assert_eq!(own.bin, Some(root.join("bin")));
    assert_eq!(own.env["CLAUDE_PLUGIN_ROOT"], root.display().to_string());
    let data = disk.0.path().join("data/p-inline");
    assert!(data.is_dir(), "its data has a place");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(data.parent().unwrap()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "for its owner alone");
    }
}

#[test]
fn s1_s6_broken_plugins_are_named_and_links_do_not_lead_out() {
    let disk = Disk::new();
    disk.write("broken/.claude-plugin/plugin.json", "{");
    disk.plugin("half", "half", "1");
    disk.write("half/hooks/hooks.json", "[");
    disk.write("secret/SKILL.md", "x");
    #[cfg(unix)]
    std::os::unix::fs::symlink("../secret", disk.0.path().join("half/skills")).unwrap();
    let found = disk.find(&["broken", "half", "nowhere"], &json!({"../x@y": true}));
    assert_eq!(ids(&found), ["half@inline"]);
    assert!(found.plugins[0].skills.is_empty() && found.plugins[0].hooks.is_empty());
    let said = found.problems.join("\n");
    for part in [
        "not a JSON object",
        "hooks.json is not used",
        "nowhere",
        "is not of the form plugin@marketplace",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    #[cfg(unix)]
    assert!(said.contains("leads outside of it"), "{said}");
}
