"""The machines of script/cluster-test: a network that can be cut, a disk that can lose power, PostgreSQL, and nodes.

With `isolated`, the calling process is alone in namespaces of its own (network, mounts, processes): what is made here
is gone when it ends. Each node has a network namespace on one bridge, and PostgreSQL has one; we are on the bridge
itself. A cut is the bridge's: two ports that are both isolated do not hear each other, and everybody else hears both.
Frames vanish, as with a broken switch; no side is told.

Otherwise everything listens on loopback, and neither the network nor the disk can be broken.
"""

import copy
import errno
import json
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import time
import urllib.request

# For everything that is waited for: the machine may be busy.
SECONDS = 90


class Failed(Exception):
    """Something is wrong with what is tested, or with this test."""


def run(*command, check=True, env=None, timeout=SECONDS):
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=timeout)
    if check and done.returncode != 0:
        said = (done.stderr or done.stdout).strip()[-1000:]
        raise Failed(f"{' '.join(command)}: exit code {done.returncode}: {said}")
    return done


def eventually(condition, what, seconds=SECONDS):
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise Failed(what() if callable(what) else what)
        time.sleep(0.02)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_gone(pid):
    """Whether a process has ended. One that nobody has waited for yet has ended, too."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def descendants(pid):
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat") as file:
                    parents[int(name)] = int(file.read().rsplit(")", 1)[1].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
    found = [pid]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found


# MARK: The network

class Network:
    NAMES = "10.77.0"

    def __init__(self, isolated, nodes):
        self.isolated = isolated
        self.ports = {}
        if not isolated:
            return
        # Names of namespaces are kept in a directory that only we see.
        os.makedirs("/run/netns", exist_ok=True)
        run("mount", "-t", "tmpfs", "tmpfs", "/run/netns")
        run("ip", "link", "set", "lo", "up")
        run("ip", "link", "add", "bridge0", "type", "bridge")
        run("ip", "address", "add", f"{self.NAMES}.254/24", "dev", "bridge0")
        run("ip", "link", "set", "bridge0", "up")
        for number, name in enumerate([*nodes, "pg"], 1):
            run("ip", "netns", "add", name)
            run("ip", "link", "add", f"to-{name}", "type", "veth", "peer", "name", "eth0", "netns", name)
            run("ip", "link", "set", f"to-{name}", "master", "bridge0", "up")
            run("ip", "-n", name, "address", "add", f"{self.NAMES}.{number}/24", "dev", "eth0")
            run("ip", "-n", name, "link", "set", "eth0", "up")
            run("ip", "-n", name, "link", "set", "lo", "up")
            self.ports[name] = f"{self.NAMES}.{number}"

    def address(self, name):
        return self.ports.get(name, "127.0.0.1")

    def inside(self, name):
        """What a command begins with that is run on that machine."""
        return ["nsenter", f"--net=/run/netns/{name}", "--"] if self.isolated else []

    def cut(self, *names):
        """None of them hears another one."""
        self._isolate("on", *names)

    def heal(self):
        self._isolate("off", *self.ports)

    def _isolate(self, state, *names):
        for name in names:
            run("ip", "link", "set", f"to-{name}", "type", "bridge_slave", "isolated", state)


# MARK: The disk

class Volume:
    """A file system of its own, in a file; or a directory, where that cannot be."""

    MEBIBYTES = 320

    def __init__(self, directory, isolated):
        self.directory, self.isolated = directory, isolated
        self.path = os.path.join(directory, "volume")
        self.number = 0
        os.mkdir(self.path)
        if isolated:
            image = self._image()
            with open(image, "wb") as file:
                file.truncate(self.MEBIBYTES << 20)
            # Everything is there from the beginning, so the kernel has nothing to write later; nothing is reserved.
            run("mkfs.ext4", "-q", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard", image)
            self._mount()

    def _image(self):
        return os.path.join(self.directory, f"image{self.number}")

    def _mount(self):
        self.loop = run("losetup", "--find", "--show", self._image()).stdout.strip()
        run("mount", self.loop, self.path)
        # The device goes when the file system does, also when that is because we were killed.
        run("losetup", "--detach", self.loop)

    def _written(self):
        """How many writes the device has had, with those under way."""
        with open(f"/sys/block/{os.path.basename(self.loop)}/stat") as file:
            fields = file.read().split()
        return fields[4], fields[5], fields[6], fields[8]

    def copy_as_it_is(self):
        """Copies what the device has, and nothing of what is only in memory. If it is written to meanwhile, again:
        the copy is of one instant."""
        copy = os.path.join(self.directory, f"image{self.number + 1}")
        for _ in range(200):
            before = self._written()
            run("cp", "--sparse=always", self._image(), copy)
            if self._written() == before and before[3] == "0":
                return
        raise Failed("the disk's image could not be copied at one instant")

    def lose_power(self):
        """Goes on with the copy."""
        eventually(self._unmount, "the file system cannot be unmounted")
        os.remove(self._image())
        self.number += 1
        self._mount()

    def _unmount(self):
        return run("umount", self.path, check=False).returncode == 0

    def fill(self):
        path = os.path.join(self.path, "ballast")
        descriptor = os.open(path, os.O_CREAT | os.O_WRONLY, 0o600)
        size, step = 0, 16 << 20
        while step >= 4096:
            try:
                os.posix_fallocate(descriptor, size, step)
                size += step
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                step //= 2
        os.close(descriptor)

    def free(self):
        path = os.path.join(self.path, "ballast")
        if os.path.exists(path):
            os.remove(path)

    def detach(self):
        """The image stays, for whoever wants to look at it."""
        if self.isolated:
            eventually(self._unmount, "the file system cannot be unmounted")


# MARK: PostgreSQL

class PostgreSQL:
    SETTINGS = """
listen_addresses = '{address}'
unix_socket_directories = '{sockets}'
max_connections = 60
shared_buffers = 32MB
min_wal_size = 16MB
max_wal_size = 48MB
checkpoint_timeout = 30s
log_line_prefix = '%m [%p] '
"""
    # What somebody may have set to make other programs faster. Relay has to ask for more.
    LAZY = """
synchronous_commit = off
wal_writer_delay = 10s
"""

    def __init__(self, directory, network, volume, lazy):
        self.network, self.volume = network, volume
        # The second one is a standby's, and then that of the next primary.
        self.port, self.other_port = (5432, 5433) if network.isolated else (free_port(), free_port())
        self.hosts = ",".join(f"{network.address('pg')}:{port}" for port in (self.port, self.other_port))
        self.sockets = os.path.join(directory, "sockets")
        self.log = os.path.join(directory, "postgresql.log")
        self.data = os.path.join(volume.path, "postgresql")
        self.password = secrets.token_hex(16)
        self.process = self.standby = None
        self.binaries = self._binaries()
        self.account = account = pwd.getpwnam("postgres") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
        self.user = ["setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--init-groups"] \
            if os.geteuid() == 0 else []
        self._make_directory(self.sockets)
        self._make_directory(self.data)
        secret = os.path.join(directory, "password")
        with open(secret, "w") as file:
            file.write(self.password)
        os.chown(secret, account.pw_uid, account.pw_gid)
        run(*self.user, f"{self.binaries}/initdb", "-D", self.data, "-U", "relay", "--pwfile", secret, "-E", "UTF8",
            "--no-locale", "--auth-local=trust", "--auth-host=scram-sha-256", "--wal-segsize=1", "--data-checksums")
        with open(os.path.join(self.data, "postgresql.conf"), "a") as file:
            file.write(self.SETTINGS.format(address=network.address("pg"), sockets=self.sockets))
            if lazy:
                file.write(self.LAZY)
        if network.isolated:
            with open(os.path.join(self.data, "pg_hba.conf"), "a") as file:
                file.write(f"host all all {Network.NAMES}.0/24 scram-sha-256\n")
        # What is not synced is gone when the power is.
        run("sync", "--file-system", self.data)

    @property
    def url(self):
        """Without the password, which is in the environment."""
        return f"postgres://relay@{self.hosts}/postgres?connect_timeout=5&target_session_attrs=read-write"

    def _make_directory(self, path):
        os.mkdir(path, 0o700)
        os.chown(path, self.account.pw_uid, self.account.pw_gid)

    @staticmethod
    def _binaries():
        found = sorted((f"/usr/lib/postgresql/{each}/bin" for each in os.listdir("/usr/lib/postgresql")),
                       key=lambda path: int(path.split("/")[4]))
        if not found or int(found[-1].split("/")[4]) < 15:
            raise Failed("PostgreSQL 15 or newer is needed")
        return found[-1]

    def launch(self):
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(
                [*self.network.inside("pg"), *self.user, f"{self.binaries}/postgres", "-D", self.data,
                 "-p", str(self.port)],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)

    def start(self):
        """Starts it until it stays, as whatever watches over it would."""
        def started():
            if self.process is None or self.process.poll() is not None:
                self.launch()
            return self.is_ready()
        eventually(started, lambda: f"PostgreSQL does not start; see {self.log}")

    def is_ready(self):
        return self.process.poll() is None and self.query("select 1", check=False) == "1"

    def query(self, text, check=True):
        done = run(*self.user, f"{self.binaries}/psql", "-h", self.sockets, "-p", str(self.port), "-U", "relay",
                   "-XAtq", "-c", text, "postgres", check=check)
        return done.stdout.strip() if done.returncode == 0 else None

    def add_standby(self):
        """Another PostgreSQL, for which every commit waits from now on."""
        standby = copy.copy(self)
        standby.port, standby.other_port = self.other_port, self.port
        standby.data = self.data + "-standby" if not self.data.endswith("-standby") else self.data[:-len("-standby")]
        standby.process = None
        self._make_directory(standby.data)
        run(*self.user, f"{self.binaries}/pg_basebackup", "-h", self.sockets, "-p", str(self.port), "-U", "relay",
            "-D", standby.data, "-X", "stream", "-c", "fast")
        with open(os.path.join(standby.data, "postgresql.auto.conf"), "a") as file:
            file.write(f"primary_conninfo = 'host={self.sockets} port={self.port} user=relay "
                       "application_name=standby'\n")
        with open(os.path.join(standby.data, "standby.signal"), "w"):
            pass
        self.standby = standby
        standby.start()
        self.query("alter system set synchronous_standby_names = 'standby'")
        self.query("select pg_reload_conf()")
        eventually(lambda: self.query("select count(*) from pg_stat_replication where sync_state = 'sync'") == "1",
                   "the standby does not become synchronous")

    def promote(self):
        if self.query("select pg_promote()") != "t":
            raise Failed(f"the standby cannot be promoted; see {self.log}")

    def remove(self):
        shutil.rmtree(self.data)
        # It stays gone when the power goes.
        run("sync", "--file-system", self.volume.path)

    def stop(self, how=signal.SIGINT):
        """SIGINT is PostgreSQL's fast shutdown."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(SECONDS)

    def freeze(self):
        """Stops every process, those that are being started included."""
        frozen = set()
        while True:
            found = {each for each in descendants(self.process.pid) if not is_gone(each)}
            if found == frozen:
                return frozen
            for pid in found - frozen:
                send(pid, signal.SIGSTOP)
            frozen = found

    def thaw(self):
        for pid in descendants(self.process.pid):
            send(pid, signal.SIGCONT)

    def kill(self):
        """Kills every process at once: they are stopped first."""
        for pid in (frozen := self.freeze()):
            send(pid, signal.SIGKILL)
        self.process.wait(SECONDS)
        eventually(lambda: all(is_gone(pid) for pid in frozen), "PostgreSQL's processes do not end")
        # Where we are the first process, we inherit those whose parent has ended.
        for pid in frozen - {self.process.pid}:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


# MARK: Nodes

class Node:
    def __init__(self, name, directory, network, options, journal, password):
        self.name, self.network, self.options = name, network, options
        self.journal, self.password = journal, password
        self.host = network.address(name)
        self.port = 8080 if network.isolated else free_port()
        self.data = os.path.join(directory, name)
        self.log = os.path.join(directory, f"{name}.log")
        self.process, self.stopped = None, False
        self.listens = False

    @property
    def url(self):
        return f"ws://{self.host}:{self.port}/graphql"

    def command(self):
        command = [self.options.relay, "serve", "--schema", self.options.schema, "--data", self.data,
                   "--host", self.host, "--port", str(self.port), "--progress-interval", "1"]
        if self.network.isolated:
            command.append("--open")
        if self.journal:
            command += ["--journal", self.journal, "--node", self.name, "--advertise", f"ws://{self.host}:{self.port}"]
        return [*self.network.inside(self.name), *command, *self.options.node_arguments]

    def environment(self):
        home = os.path.dirname(self.data)
        return os.environ | {"PGPASSWORD": self.password or "", "HOME": home, "XDG_CACHE_HOME": f"{home}/cache"}

    def launch(self):
        with open(self.log, "a") as log:
            log.write(f"--- {time.monotonic():.4f} starts\n")
            log.flush()
            self.offset = log.tell()
            self.process = subprocess.Popen(self.command(), stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                                            env=self.environment(), start_new_session=True)
        self.stopped, self.listens = False, False

    def note(self, what):
        with open(self.log, "a") as log:
            log.write(f"--- {time.monotonic():.4f} {what}\n")

    def is_listening(self):
        if not self.listens:
            with open(self.log) as log:
                log.seek(self.offset)
                self.listens = "listening on" in log.read()
        return self.listens

    def is_ready(self):
        """Whether it wants clients."""
        try:
            with urllib.request.urlopen(f"http://{self.host}:{self.port}/readyz", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        self.note("kill -9")
        self.process.kill()
        self.process.wait(SECONDS)

    def pause(self):
        self.note("SIGSTOP")
        self.process.send_signal(signal.SIGSTOP)
        self.stopped = True

    def resume(self):
        self.note("SIGCONT")
        self.process.send_signal(signal.SIGCONT)
        self.stopped = False

    def end(self):
        """Stops it gracefully."""
        if self.is_running():
            if self.stopped:
                self.resume()
            self.note("SIGTERM")
            self.process.terminate()
            try:
                self.process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                raise Failed(f"{self.name} does not stop") from None
            if self.process.returncode != 0:
                raise Failed(f"{self.name} stopped with exit code {self.process.returncode}; see {self.log}")

    def last_words(self):
        with open(self.log, errors="replace") as log:
            return " / ".join(log.read().strip().splitlines()[-3:])


class Cluster:
    def __init__(self, directory, network, options, lazy=False):
        self.directory, self.network, self.options = directory, network, options
        os.makedirs(directory)
        # PostgreSQL has to get through.
        os.chmod(directory, 0o711)
        self.volume = self.postgresql = None
        if not options.files:
            self.volume = Volume(directory, network.isolated)
            self.postgresql = PostgreSQL(directory, network, self.volume, lazy)
            self.postgresql.start()
        self.nodes = [Node(name, directory, network, options, self.postgresql and self.postgresql.url,
                           self.postgresql and self.postgresql.password) for name in options.names]

    def start(self):
        for node in self.nodes:
            node.launch()
        for node in self.nodes:
            self.wait_for(node)

    def wait_for(self, node):
        def listening():
            if not node.is_running():
                raise Failed(f"{node.name} ended with exit code {node.process.returncode}: {node.last_words()}")
            return node.is_listening()
        eventually(listening, lambda: f"{node.name} does not listen after {SECONDS} s: {node.last_words()}")

    def relay(self, *arguments, check=True):
        """A command of relay, on PostgreSQL's machine."""
        return run(*self.network.inside("pg"), self.options.relay, *arguments, check=check,
                   env=self.nodes[0].environment())

    def status(self):
        """The journal, and the nodes by name."""
        lines = [json.loads(line) for line in
                 self.relay("journal", "status", self.postgresql.url, "--json").stdout.splitlines()]
        return lines[0], {line["name"]: line for line in lines[1:]}

    def leader(self):
        """The node that leads, or None. If nobody leads, there is nothing to wait for here."""
        if self.options.files:
            return self.nodes[0]
        journal, _ = self.status()
        # A lease that has run out is nobody's.
        if not journal.get("writer") or (journal.get("leaseMilliseconds") or 0) <= 0:
            return None
        return next(node for node in self.nodes if node.name == journal["writer"])

    def destroy(self):
        """Ends everything, whatever state it is in."""
        for node in self.nodes:
            if node.is_running():
                node.process.kill()
                node.process.wait(SECONDS)
        for each in (self.postgresql, self.postgresql and self.postgresql.standby):
            if each and each.process and each.process.poll() is None:
                each.kill()
        if self.volume:
            self.volume.detach()

    def remove(self):
        shutil.rmtree(self.directory)
