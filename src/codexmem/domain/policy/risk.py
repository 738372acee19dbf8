"""Which class of risk a tool has, by the names that coding agents give their own tools.

Only tools of the agents themselves stand here. What a tool of an MCP server does cannot be told from its name, and what
the server says of it is not to be trusted, so those are of no known class.
"""

from __future__ import annotations

from collections.abc import Mapping

from codexmem.domain.tool_access import Risk

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
