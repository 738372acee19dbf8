"""Tools that say nothing about the work. The settings need these, so every command loads them, without `capture`."""

SKIPPED_TOOLS = (
    *("ListMcpResourcesTool", "SlashCommand", "Skill", "TodoWrite", "AskUserQuestion"),
    # The same as other agents name them, and how they look for tools and keep their own plans.
    *("tool_search", "todo_write", "skill", "ask_user_question", "exit_plan_mode", "update_plan", "request_user_input"),
    *("get_goal", "create_goal", "update_goal", "list_mcp_resources", "list_mcp_resource_templates"),
)
