"""`mem-codecli run` 的中文提示。"""

# ruff: noqa: RUF001

RUN: dict[str, str] = {
    "codecli.run.short": "运行智能体；按设置启用记忆与策略",
    "codecli.run.help": "运行智能体。不带选项时逐字节原样透传。我们的选项写在智能体参数之前，以 -- 结束。"
    "退出码即智能体的退出码；找不到智能体时为 127。",
    "codecli.run.example": 'mem-codecli run -- exec "修复失败的测试"\n'
    'mem-codecli run --memory-on --project-id shop -- exec "构建为什么失败"\n'
    'mem-codecli run --memory-on --explain -- exec "构建为什么失败"',
    "codecli.run.memory_on": "是否先检索记忆、事后回传；未配置时关闭。",
    "codecli.run.inject_mode": "记忆注入的位置：system、user 或 both。",
    "codecli.run.gatekeeper": "哪些回答成为候选：off（不写）、soft（有强信号才写）、hard（满足规则即写）。",
    "codecli.run.audit": "谁决定智能体能否使用工具：off（不管）、prompt（先策略再问人）、auto（只看策略）。",
    "codecli.run.redact": "保存或发送前的脱敏强度：off、basic 或 strict。",
    "codecli.run.stream_format": "如何读取智能体的输出：auto、text、jsonl 或 sse。",
    "codecli.run.tui": "在智能体输出下方用一行显示当前情况。",
    "codecli.run.trace_json": "把运行经过以 JSON 行追加到此文件；- 表示标准错误。",
    "codecli.run.record": "把运行录制到此文件，之后可用 mem-codecli replay FILE 重放",
    "codecli.run.explain": "显示查询、记忆、注入内容与规则；不运行智能体。",
    "codecli.run.resembles": "{name} 不是我们的选项；是否想写 {near}？",
    "codecli.run.dashes": "如果它是给智能体的，请写：mem-codecli run -- {name}",
    "codecli.run.no_terminal": "--tui 需要终端；已忽略",
    "codecli.run.explain.command": "将运行：{command}\n适配器 {adapter}，项目 {project}",
    "codecli.run.explain.memory_off": "记忆已关闭；用 --memory-on 打开",
    "codecli.run.explain.query": "查询：",
    "codecli.run.explain.nothing": "（无）",
    "codecli.run.explain.problem": "没有记忆可用：{problem}",
    "codecli.run.explain.items": "找到的记忆：{count}",
    "codecli.run.explain.injection": "注入（{mode}）：",
    "codecli.run.explain.gatekeeper": "闸门（{mode}）：",
    "codecli.run.explain.later": "有了回答才能判断",
    "codecli.run.explain.off": "不写入：闸门已关闭",
    "codecli.run.explain.soft": "有强信号才写入：测试或构建通过、您在下一轮确认，或 mem-codecli confirm",
    "codecli.run.explain.hard": "四条规则全部满足即写入",
    "codecli.run.waits": "此回答未保留：{why}；如果它是对的：mem-codecli confirm",
    "codecli.confirm.short": "保留上一个回答：它是对的",
    "codecli.confirm.help": "确认智能体在本项目、本目录中的上一个回答是对的，并作为已证实的内容写入记忆。"
    "只有满足闸门全部规则的回答才会等待确认。",
    "codecli.confirm.example": "mem-codecli confirm\nmem-codecli confirm --project-id shop",
    "codecli.confirm.done": "已保留为 {qa_id}（{status}）：{question}",
    "codecli.run.explain.policy": "工具：审核 {audit}，策略模式 {mode}，无规则时最高允许 {risk}",
    "codecli.run.explain.not_run": "没有运行智能体",
}
