"""A request in canonical form: what it calls, what it names and how bad it can be, whatever it says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from codexmem.codecli.policy import commands as policy_commands
from codexmem.codecli.policy import domains as policy_domains
from codexmem.codecli.policy import names as policy_names
from codexmem.codecli.policy import names as policy_paths
from codexmem.codecli.policy.commands import ParsedCommand
from codexmem.codecli.policy.domains import Address
from codexmem.codecli.policy.names import Around, Called, FilePath
from codexmem.kernel.model.tool_access import Risk, ToolRequest

_NAMES: dict[Risk, str] = {
    Risk.READ: """
        read read_file read_many_files readfile notebookread notebook_read view view_file view_image open_file
        grep grep_search search_file_content file_search codebase_search search_files search glob glob_search
        ls list list_dir list_directory list_files list_code_definition_names
        todoread todo_read todowrite todo_write update_plan plan exitplanmode think tool_search toolsearch
        bashoutput read_output lsp diagnostics""",
    Risk.WRITE: """
        write write_file writefile write_to_file create create_file edit edit_file editfile multiedit multi_edit
        notebookedit notebook_edit replace replace_in_file str_replace str_replace_editor str_replace_based_edit_tool
        insert insert_content insert_edit_into_file search_replace patch apply_patch apply_diff file_change fs_write
        save_memory delete delete_file remove_file move move_file rename rename_file""",
    Risk.NETWORK: """
        webfetch web_fetch fetch fetch_url url_fetch websearch web_search google_web_search codesearch
        browser browser_action browser_navigate open_url""",
    Risk.EXECUTE: """
        bash shell sh exec exec_command shell_command local_shell unified_exec write_stdin run_shell_command
        run_command run_commands run_terminal_cmd run_terminal_command execute execute_command command_execution
        terminal powershell killbash killshell kill_shell python run_python code_interpreter computer""",
}
CLASSES: Mapping[str, Risk] = {name: risk for risk, names in _NAMES.items() for name in names.split()}


def class_of(folded: str) -> Risk | None:
    """The class of a tool by its name in lower case; None if it is not one of the agents' own."""
    return CLASSES.get(folded)


MOST_THINGS = 500  # files and addresses of one request that are looked at

Thing = FilePath | Address | None  # what a request names; None is the request itself


@dataclass(frozen=True)
class Facts:
    """A request in canonical form."""

    request: ToolRequest
    called: Called
    around: Around
    places: tuple[FilePath, ...]
    addresses: tuple[Address, ...]
    reading: ParsedCommand
    whole: bool  # False: it names more than is looked at

    @classmethod
    def of(cls, request: ToolRequest, around: Around) -> Facts:
        """Read a request."""
        here = replace(around, cwd=request.cwd or around.cwd)
        addresses = [policy_domains.read(each) for each in request.urls[:MOST_THINGS]]
        paths = [*request.paths[:MOST_THINGS], *(each.path for each in addresses if each.path)]
        return cls(
            request, policy_names.called(request.tool, request.server), here,
            tuple(policy_paths.read(each, here) for each in paths),
            tuple(each for each in addresses if not each.path or each.hosts),
            policy_commands.read(request.command, home=here.home, cwd=here.cwd),
            whole=max(len(request.paths), len(request.urls)) <= MOST_THINGS,
        )  # fmt: skip

    @cached_property
    def risk(self) -> Risk | None:
        """The worst that anything about the request tells of."""
        told = [self._listed, self.request.risk, self._evident]
        return max((each for each in told if each is not None), default=None)

    @cached_property
    def granted_risk(self) -> Risk | None:
        """The class by which it may be granted; None for what an MCP server offers and for names nobody knows."""
        granted = self.called.granted
        if granted is None or not granted.plain or self.called.of_server:
            return None
        return self.risk if self._listed is not None or self.request.risk is not None else None

    @property
    def things(self) -> list[Thing]:
        """All that must be allowed, each by itself."""
        things: list[Thing] = [*self.places, *self.addresses]
        return [*things, None] if not things or self.commands else things

    @property
    def commands(self) -> bool:
        """Whether it runs something, which no list of files can describe."""
        return bool(self.request.command) or self.risk is Risk.EXECUTE

    @cached_property
    def mentions(self) -> tuple[str, ...]:
        """All in a command's words that may be a path or an address, and one more than is looked at."""
        words = dict.fromkeys(word for part in self.reading.parts for word in part if word)
        found = dict.fromkeys(each for word in words for each in policy_commands.mentions(word))
        return tuple(found)[: MOST_THINGS + 1]

    @cached_property
    def mentioned_places(self) -> tuple[FilePath, ...]:
        """Files that a command may be about."""
        named = self.mentions[:MOST_THINGS]
        found = [policy_paths.read(each, self.around) for each in named]
        for folder in self._folders:
            there = replace(self.around, cwd=folder)
            found += [policy_paths.read(each, there) for each in named if not each.startswith(("/", "~"))]
        return tuple(found)

    @property
    def _folders(self) -> list[str]:
        """Where a command may be when it names a file: each folder it goes to, from the last one and from the first."""
        found: dict[str, None] = {}
        last = self.around
        for folder in self.reading.folders:
            for start in (last, self.around):
                found |= dict.fromkeys(policy_paths.read(folder, start).spellings)
            last = replace(self.around, cwd=next(iter(policy_paths.read(folder, last).spellings), last.cwd))
        return list(found)

    @cached_property
    def mentioned_addresses(self) -> tuple[Address, ...]:
        """Addresses that a command may be about."""
        return tuple(policy_domains.read(each) for each in self.mentions[:MOST_THINGS])

    @property
    def readable(self) -> bool:
        """Whether a command, if there is one, was understood with all that it mentions."""
        words = (word for part in self.reading.parts for word in part)
        others_homes = any(word.startswith("~") and word[1:2] not in {"", "/"} for word in words)
        return not self.request.command or (
            self.reading.clear and not others_homes and len(self.mentions) <= MOST_THINGS
        )

    @property
    def _listed(self) -> Risk | None:
        own = self.called.names[0]
        return class_of(own.folded) if own.plain and not self.called.of_server else None

    @property
    def _evident(self) -> Risk | None:
        if self.request.command:
            return Risk.EXECUTE
        return Risk.NETWORK if self.addresses else None
