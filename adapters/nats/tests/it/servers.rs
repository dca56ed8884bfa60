//! Servers for a test: a cluster on loopback that can be killed, stopped for a
//! while and started again.

use everfold_kernel::limits::FleetLimits;
use everfold_nats::{FleetConnection, FleetLogin};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Where the server is, if it is anywhere.
pub(crate) fn program() -> Option<PathBuf> {
    let named = std::env::var_os("NATS_SERVER").map(PathBuf::from);
    let exe = std::env::current_exe().unwrap();
    let fetched = exe.ancestors().nth(3).unwrap().join("nats/nats-server");
    let found = named.or(Some(fetched)).filter(|path| path.is_file());
    if found.is_none() {
        eprintln!("skipped: there is no nats-server; `cargo xtask soak fleet` fetches one");
    }
    found
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

pub(crate) struct Node {
    program: PathBuf,
    config: PathBuf,
    pub(crate) name: String,
    pub(crate) port: u16,
    pub(crate) monitor: u16,
    child: Option<Child>,
}

impl Node {
    pub(crate) fn start(&mut self) {
        let log = self.config.with_extension("log");
        let log = std::fs::File::options().create(true).append(true).open(log).unwrap();
        let child = Command::new(&self.program)
            .arg("-c")
            .arg(&self.config)
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        self.child = Some(child);
    }

    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// It stands still, as one that is cut off.
    pub(crate) fn signal(&self, signal: &str) {
        let id = self.child.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// Its memory, in megabytes.
    pub(crate) fn megabytes(&self) -> u64 {
        let Some(child) = &self.child else { return 0 };
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A small file system; only root can have one.
pub(crate) struct Disk {
    place: PathBuf,
}

impl Disk {
    fn mount(place: &Path, megabytes: u32) -> Option<Self> {
        std::fs::create_dir_all(place).unwrap();
        let disk = Self { place: place.to_owned() };
        if disk.tmpfs(&format!("size={megabytes}m")) {
            return Some(disk);
        }
        eprintln!("skipped: nothing can be mounted here");
        None
    }

    /// Gives it another size.
    pub(crate) fn resize(&self, megabytes: u32) {
        assert!(self.tmpfs(&format!("remount,size={megabytes}m")));
    }

    /// Kilobytes that are free.
    pub(crate) fn free(&self) -> u64 {
        let told = Command::new("df").args(["-k", "--output=avail"]).arg(&self.place).output();
        let told = String::from_utf8(told.unwrap().stdout).unwrap();
        told.lines().nth(1).unwrap().trim().parse().unwrap()
    }

    fn tmpfs(&self, options: &str) -> bool {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&self.place);
        mount.stderr(Stdio::null()).status().is_ok_and(|done| done.success())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.place).status();
    }
}

pub(crate) struct Servers {
    pub(crate) nodes: Vec<Node>,
    pub(crate) disks: Vec<Disk>,
    pub(crate) dir: tempfile::TempDir,
}

impl Servers {
    /// So many of them, each with more in its jetstream block.
    pub(crate) fn start(count: usize, more: &str) -> Option<Self> {
        Self::with(count, more, "")
    }

    /// The same, with more at the top of the configuration.
    pub(crate) fn with(count: usize, more: &str, top: &str) -> Option<Self> {
        Self::on_disks(&vec![None; count], more, top)
    }

    /// One for each of these disks: so many megabytes each, or ample.
    pub(crate) fn on_disks(megabytes: &[Option<u32>], more: &str, top: &str) -> Option<Self> {
        let program = program()?;
        let dir = tempfile::tempdir().unwrap();
        let (count, mut disks) = (megabytes.len(), Vec::new());
        let routes: Vec<u16> = (0..count).map(|_| free_port()).collect();
        let listed: Vec<String> =
            routes.iter().map(|port| format!("nats://127.0.0.1:{port}")).collect();
        let mut nodes = Vec::new();
        for (at, route) in routes.iter().enumerate() {
            let (name, port, monitor) = (format!("n{at}"), free_port(), free_port());
            let store = dir.path().join(&name);
            if let Some(megabytes) = megabytes[at] {
                disks.push(Disk::mount(&store, megabytes)?);
            }
            let mut text = format!(
                "{top}\nserver_name: {name}\nlisten: 127.0.0.1:{port}\nhttp: 127.0.0.1:{monitor}\n\
                 jetstream {{\n store_dir: \"{}\"\n {more}\n}}\n",
                store.display()
            );
            if count > 1 {
                let routes = listed.join(", ");
                text = format!(
                    "{text}cluster {{ name: crew, listen: 127.0.0.1:{route}, routes: [{routes}] }}\n"
                );
            }
            let config = dir.path().join(format!("{name}.conf"));
            std::fs::write(&config, text).unwrap();
            let program = program.clone();
            let mut node = Node { program, config, name, port, monitor, child: None };
            node.start();
            nodes.push(node);
        }
        Some(Self { nodes, disks, dir })
    }

    pub(crate) fn login(&self) -> FleetLogin {
        let servers = self.nodes.iter().map(|node| format!("nats://127.0.0.1:{}", node.port));
        FleetLogin { servers: servers.collect(), ..FleetLogin::default() }
    }

    /// The same for a user with a key.
    pub(crate) fn login_as(&self, user: &nkeys::KeyPair) -> FleetLogin {
        let file = self.dir.path().join(user.public_key());
        std::fs::write(&file, user.seed().unwrap()).unwrap();
        FleetLogin { nkey: Some(file), ..self.login() }
    }

    /// A connection, once they let us in.
    pub(crate) async fn connect(&self, limits: &FleetLimits) -> FleetConnection {
        self.connect_by(&self.login(), limits).await
    }

    pub(crate) async fn connect_by(
        &self,
        login: &FleetLogin,
        limits: &FleetLimits,
    ) -> FleetConnection {
        let until = Instant::now() + Duration::from_secs(20);
        loop {
            match FleetConnection::open(login, limits).await {
                Ok(fleet) => return fleet,
                Err(error) if Instant::now() > until => panic!("{error}"),
                Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
            }
        }
    }
}
