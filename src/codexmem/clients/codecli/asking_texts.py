"""What a person is asked about an agent's tools, in both languages; the keys to press are the same in each."""

# ruff: noqa: RUF001  (Chinese has punctuation of its own)

from __future__ import annotations

from collections.abc import Mapping

TEXTS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "question": 'Allow "{what}" (risk: {risk})?  {keys} ',
        "y": "[y] once",
        "a": "[a] always for project",
        "n": "[n] deny",
        "d": "[d] deny+reason",
        "?": "[?] details",
        "why": "What should the agent do instead? ",
        "late": "no answer: denied",
        "allowed": "allowed once",
        "always": "allowed from now on in this project",
        "denied": "denied",
        "read": "read",
        "write": "write",
        "network": "network",
        "execute": "execute",
        "unknown": "unknown",
        "agent": "agent",
        "folder": "folder",
        "reason": "why it is asked",
        "remember": "[a] would add",
        "whole": "in full",
    },
    "zh": {
        "question": "允许“{what}”吗（风险：{risk}）？  {keys} ",
        "y": "[y] 仅此一次",
        "a": "[a] 本项目内始终允许",
        "n": "[n] 拒绝",
        "d": "[d] 拒绝并说明",
        "?": "[?] 详情",
        "why": "智能体应当改做什么？",
        "late": "未作答：已拒绝",
        "allowed": "已允许一次",
        "always": "此后在本项目内允许",
        "denied": "已拒绝",
        "read": "读取",
        "write": "写入",
        "network": "网络",
        "execute": "执行",
        "unknown": "未知",
        "agent": "智能体",
        "folder": "目录",
        "reason": "询问原因",
        "remember": "[a] 将添加",
        "whole": "全文",
    },
}
