"""Whether a text reads like an instruction to an agent, in English and Chinese, told by its words.

What does is not told unasked, unless a person said it; asked for, it is found and quoted like everything else. Two
degrees: what would take over a conversation (forget what you were told, I am the system) discredits the whole text it
stands in; an order that harms (fetch and run, send what is secret, hide it from the person) only its own sentence.
Ordinary rules of a project, "always run the tests", are neither. A heuristic: it can be got around, and then the frame
and the quotes still say that it is data.
"""

# ruff: noqa: RUF001, E501

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from codexmem.kernel.model import quoting

_READ = 20_000  # characters of a text
_KNOWN = 2_000  # texts whose answer is remembered: every session of a project is told much the same

_PRIOR = r"(?:(?:all|any|every|each|the|of|these|those|your|my|our|other|and|or|and/or) ){0,4}"
_BEFORE = (
    r"(?:previous|prior|earlier|preceding|above|former|foregoing|past|existing|original|initial|system|developer|"
    r"safety|security|current|old|user'?s?)"
)
_ORDERS = (
    r"(?:instructions?|directives?|prompts?|rules?|guidelines?|guardrails?|commands?|orders?|constraints?|policy|"
    r"policies|restrictions?|messages?|context|conversation|training|safeguards?)"
)
_DROP = (
    r"(?:ignore|disregard|forget|override|overrule|bypass|discard|skip|drop|neglect|cancel|erase|supersede|"
    r"do not follow|don'?t follow|stop following|pay no attention to|set aside|throw away)"
)
_AGENT = (
    r"(?:ai|a\.i\.|assistants?|agents?|coding (?:agent|assistant)s?|language models?|llms?|chat\s?bots?|bots?|"
    r"claude(?: code)?|codex|copilot|gemini|gpt(?:-?\d\S{0,20})?|chatgpt|cursor|qwen|deepseek|models? reading this)"
)
_REMOTE = r"(?:https?://|ftp://|www\.|(?<![\w-])[\w-]++(?:\.[\w-]++){0,6}\.(?:test|example|com|net|org|io|sh|cn|ru|xyz|evil|top)\b)"
_SECRETS = (
    r"(?:secrets?|credentials?|api[ _-]?keys?|tokens?|passwords?|private keys?|ssh keys?|env(?:ironment)? (?:variables?|vars?|"
    r"file)|\.env\b|id_rsa|~?/\.ssh|~?/\.aws|/etc/(?:passwd|shadow)|cookies?|keychain|wallet|密钥|密鑰|私钥|私鑰|凭据|憑據|凭证|憑證|密码|密碼|"
    r"令牌|口令|环境变量|環境變量|環境變數)"
)
_NOW = r"(?:^|[.;:!?,\-—>*#|)\]}\"'`\u3002\uff0c\uff1b\uff1a] ?|\b(?:and|then|now|please|must|should|always|just|to|first|immediately|silently|you) )"
# Parts of words of which one stands in what a rule finds: most texts have none of them, and no rule looks at those.
_IN_DROP = (
    "ignor|disregard|forget|overr|bypass|discard|skip|drop|neglect|cancel|erase|supersed|follow|attention|aside|throw"
)
_IN_ORDERS = "instruct|directive|prompt|rule|guideline|guardrail|command|order|constraint|polic|restriction|message|context|conversation|training|safeguard"
_IN_AGENT = (
    "ai|a.i|assistant|agent|language model|llm|bot|claude|codex|copilot|gemini|gpt|cursor|qwen|deepseek|reading this"
)
_IN_SECRETS = "secret|credential|api|token|password|private key|ssh|env|id_rsa|.aws|passwd|shadow|cookie|keychain|wallet|密|私|凭|憑|令牌|口令|环境|環境"
_IN_REMOTE = "://|www.|.test|.example|.com|.net|.org|.io|.sh|.cn|.ru|.xyz|.evil|.top"
_IN_PEOPLE = "user|human|person|people|operator|developer|owner|anyone|anybody"


class _Rule:
    """A pattern for a text without runs of white space, and what must stand in a text for it: of each part between `&`,
    one of what stands between `|`."""

    def __init__(self, needs: str, pattern: str) -> None:
        self._needs = tuple(tuple(part.split("|")) for part in needs.split("&"))
        self._pattern = re.compile(pattern, re.IGNORECASE)

    def finds(self, text: str, lowered: str) -> bool:
        return all(any(word in lowered for word in part) for part in self._needs) and bool(self._pattern.search(text))


# Takes over the conversation.
_TAKES_OVER = (
    _Rule(
        f"{_IN_DROP}&{_IN_ORDERS}",
        rf"{_DROP} {_PRIOR}{_BEFORE} (?:[\w-]+ ){{0,2}}{_ORDERS}\b",
    ),
    _Rule(
        f"{_IN_DROP}&everything|anything|all |whatever|what ",
        rf"{_DROP} (?:all |everything |anything |whatever |what )(?:of )?(?:that )?(?:(?:was|is|came|stands|"
        r"you (?:were|have been|know|learned))\b|above\b|before\b|you (?:were|are) told)",
    ),
    _Rule(
        f"{_IN_DROP}&{_IN_ORDERS}&your|my|the user|the person|the developer",
        rf"{_DROP} (?:all )?(?:your|my|the user'?s|the person'?s|the developer'?s) (?:[\w-]+ ){{0,2}}{_ORDERS}\b",
    ),
    _Rule(
        "instruct|directive|prompt|order&new|updated|revised|real|actual|true|hidden|secret|urgent|important",
        r"\b(?:new|updated|revised|real|actual|true|hidden|secret|urgent|important) (?:system |developer |admin )?"
        r"(?:instructions?|directives?|system prompts?|orders?) ?(?:follow|are|is\b|from|for (?:you|the (?:ai|agent|"
        r"assistant|model))|:)",
    ),
    _Rule(
        "system|developer|admin|root|operator|anthropic|openai|platform&prompt|message|notice|override|instruct|directive|command|update|alert|mode",
        r"\b(?:system|developer|admin(?:istrator)?|root|operator|anthropic|openai|platform) (?:prompt|message|notice|override|"
        r"instruction|directive|command|update|alert|mode)s? ?[:\uff1a\-—(]",
    ),
    _Rule(
        "begin|start|end|close&system|developer|recalled|memory|context|untrusted|codexmem&prompt|message|instruct|data|context|block|memory|section",
        r"\b(?:begin|start|end|close) (?:of )?(?:the )?(?:new )?(?:system|developer|recalled|memory|context|untrusted|"
        r"codexmem) (?:prompt|message|instructions?|data|context|block|memory|section)\b",
    ),
    _Rule(
        "you are&now|longer|actually|hereby",
        r"\byou are (?:now|no longer|from now on|actually|hereby)\b(?! (?:ready|able|set|done|in sync|logged|"
        r"connected|required to sign))",
    ),
    _Rule(
        f"note|message|notice|attention|reminder|hint|memo|letter|instruct&{_IN_AGENT}",
        rf"\b(?:note|message|notice|attention|reminder|hint|memo|letter|instructions?) (?:to|for) (?:the |any |all |every |"
        rf"future |next |this |an? )*{_AGENT}\b",
    ),
    _Rule(
        f"dear|hey|hello|attention|listen|to |for &{_IN_AGENT}",
        rf"\b(?:dear|hey|hello|attention,?|listen,?|to (?:the|any|all|every|whichever|whatever)|for (?:any|all|every)) (?:the |"
        rf"future |next |reading )*{_AGENT}\b ?(?:[,:!\uff1a\uff0c]|reading|that|who|working|must|should|shall|please)",
    ),
    _Rule(
        f"if you are&{_IN_AGENT}",
        rf"\bif you are (?:an? |the )?{_AGENT}\b",
    ),
    _Rule(
        f"{_IN_AGENT}&must|shall|should|to|now",
        rf"\b{_AGENT} ?(?:[,:] ?)?(?:you )?(?:must|shall|should|are (?:required|instructed|ordered|told) to|is (?:required|instructed|"
        r"ordered|told) to|has to|have to|will now|needs? to) (?:now |always |immediately |first |silently )*"
        r"(?:run|execute|send|curl|fetch|download|install|delete|upload|post|reveal|print|ignore|disregard|forget|open|call|obey|"
        r"follow|add|approve|disable|read|export|copy|push|reply|answer|include|write)\b",
    ),
    _Rule(
        "system|developer&prompt|message|instruct&your|the ",
        r"(?:reveal|print|repeat|output|show|leak|dump|disclose|tell me) (?:me )?(?:your|the) (?:full |entire |whole |hidden |"
        r"secret |original |initial )*(?:system|developer) (?:prompt|message|instructions?)\b",
    ),
    _Rule(
        "jailbreak|anything now|dan mode|developer mode",
        r"\b(?:jailbreak|do anything now|dan mode|developer mode (?:enabled|on))\b",
    ),
    _Rule(
        "safety|security|permission|approval&disabled|lifted|off|suspended|removed|void",
        r"\b(?:safety|security|permission|approval) (?:checks?|rules?|prompts?|restrictions?|guardrails?|filters?) (?:are|is|have been|"
        r"were) (?:now )?(?:disabled|lifted|off|suspended|removed|void)\b",
    ),
    _Rule(
        "忽略|视|視|忘|理会|理會|弃|棄|绕|繞|覆|推翻|跳|遵守|别管|別管",
        r"(?:忽略|无视|無視|忘记|忘記|忘掉|不要理会|不要理會|不用理会|抛弃|拋棄|丢弃|丟棄|放弃|绕过|繞過|覆盖|覆蓋|推翻|跳过|跳過|不再遵守|停止遵守|不要遵守|别管|別管)"
        r".{0,12}?(?:之前|以前|此前|先前|前面|上面|以上|上述|上文|原有|原来|原來|原先|所有|全部|一切|系统|系統|开发者|開發者|安全|用户|用戶|你的)"
        r".{0,10}?(?:指令|指示|命令|提示词|提示詞|提示|规则|規則|要求|约束|約束|限制|内容|內容|对话|對話|设定|設定|准则|準則|说明|說明)",
    ),
    _Rule(
        "提示|消息|指令|通知|命令|覆|公告&系|者|员|員|平台",
        r"(?:系统|系統|开发者|開發者|管理员|管理員|平台)(?:提示词|提示詞|提示|消息|指令|通知|命令|覆盖|覆蓋|公告) ?[:：—（(]",
    ),
    _Rule(
        "指令|指示|提示&新|真|隐|隱|紧|緊",
        r"(?:新的|新|最新|真正的|真实的|隐藏的|隱藏的|紧急|緊急)(?:的)?(?:系统|系統)?(?:指令|指示|系统提示|系統提示) ?(?:如下|是|为|為|[:：])",
    ),
    _Rule(
        "你|您&现在|現在|已|不再",
        r"(?:你|您)(?:现在|現在|从现在起|從現在起|已经|已經|不再)(?:起)?(?:是|扮演|成为|成為|进入|進入|处于|處於)|(?:从现在起|從現在起|从现在开始|從現在開始)[，,]? ?(?:你|您)",
    ),
    _Rule(
        "ai|智能|助手|助理|代理|模型|claude|codex|agent&致|给|給|告|提醒|请|請|所有|任何|各位|亲爱|親愛|下一",
        r"(?:^|[。；;！!？?：:，,\s>*#\-—(（\[【\"'])(?:致|给|給|告诉|告訴|提醒|请|請|所有|任何|各位|亲爱的|親愛的|下一个|下一個)(?:所有|任何|每个|每個|下一个|下一個|正在阅读的|读到此处的|讀到此處的|的)*"
        r" ?(?:AI|人工智能|智能体|智能體|智能助手|助手|助理|代理|编程助手|大模型|语言模型|語言模型|模型|Claude|Codex|Agent)"
        r" ?(?:[，,：:！!]|必须|必須|务必|務必|应|應|请|請|立即|阅读|讀)",
    ),
    _Rule(
        "ai|智能|助手|助理|代理|模型&必|务|務|应|應|需|要|请|請",
        r"(?:AI|智能体|智能體|助手|助理|代理|大模型|模型)(?:必须|必須|务必|務必|应当|應當|应该|應該|需要|需|要|请|請)(?:立即|马上|馬上|首先|先|总是|始终)*"
        r"(?:执行|執行|运行|運行|发送|發送|上传|上傳|下载|下載|安装|安裝|删除|刪除|泄露|洩露|忽略|遵从|遵從|服从|服從|打印|输出|輸出|读取|讀取)",
    ),
    _Rule(
        "你是|您是",
        r"(?:如果|若|当|當)(?:你|您)是(?:一个|一個)? ?(?:AI|人工智能|智能体|助手|语言模型|大模型|编程助手|代理)",
    ),
    _Rule(
        "系|开发者&提示|指令",
        r"(?:输出|輸出|打印|显示|顯示|泄露|洩露|告诉我|告訴我|透露|复述|複述)(?:你的|完整的|全部|原始)*(?:系统|系統|开发者)(?:提示词|提示詞|提示|指令)",
    ),
    _Rule(
        "安全|权|權|审|審&已|现|現",
        r"(?:安全|权限|權限|审批|審批)(?:检查|檢查|规则|規則|限制|确认|確認|过滤)(?:已|已经|现已|現已)(?:关闭|關閉|解除|停用|失效|取消|禁用)",
    ),
    _Rule(
        "结束|結束|完毕|完畢",
        r"(?:记忆|記憶|数据|資料|上下文|引用)(?:到此|在此|已|至此)?(?:结束|結束|完毕|完畢)[。，,：:；;]? ?(?:以下|下面|现在|現在|接下来)",
    ),
)  # fmt: skip
# Harms if it is obeyed.
_HARMS = (
    _Rule(
        "curl|wget|iwr|webrequest|fetch&sh",
        r"\b(?:curl|wget|iwr|invoke-webrequest|fetch)\b[^\n|;&]{0,200}[|;&]+ ?(?:sudo )?(?:ba|z|da|k)?sh\b",
    ),
    _Rule(
        "curl|wget&sh",
        r"\b(?:ba|z)?sh (?:-c )?[\"']? ?(?:<\(|\$\() ?(?:curl|wget)",
    ),
    _Rule(
        "base64",
        r"\bbase64 (?:-d|-D|--decode)\b[^\n]{0,60}\| ?(?:sudo )?(?:ba|z|da)?sh\b",
    ),
    _Rule(
        f"run|execut|eval|pipe|invoke|launch&curl|wget|rm -rf|base64|payload|nc -|mkfs|chmod 777|sudo|{_IN_REMOTE}",
        rf"{_NOW}(?:run|execute|eval|pipe|invoke|launch)\b[^\n]{{0,80}}(?:\bcurl\b|\bwget\b|\brm -rf\b|{_REMOTE}|\bbase64\b|"
        r"\bpayload\b|\bnc -|\bmkfs\b|\bchmod 777\b|\bsudo\b)",
    ),
    _Rule(
        "decod|decrypt|scramble|obfuscate",
        rf"{_NOW}(?:decode|decrypt|unscramble|de-?obfuscate)\b[^\n]{{0,100}}\b(?:and|then) (?:run|execute|follow|obey|do|eval)\b",
    ),
    _Rule(
        f"send|post|upload|exfil|leak|forward|transmit|mail|submit|copy|push|paste|publish|append|include|put|embed&{_IN_SECRETS}",
        rf"{_NOW}(?:send|post|upload|exfiltrate|leak|forward|transmit|e?mail|submit|copy|push|paste|publish|append|include|put|embed)\b[^\n]{{0,120}}"
        rf"{_SECRETS}[^\n]{{0,120}}(?:\bto\b|\bat\b|\bin(?:to)?\b|\bvia\b|{_REMOTE})",
    ),
    _Rule(
        f"send|post|upload|exfil|leak|forward|transmit|mail|submit|push&{_IN_REMOTE}",
        rf"{_NOW}(?:send|post|upload|exfiltrate|leak|forward|transmit|e?mail|submit|push)\b[^\n]{{0,120}}\b(?:to|at)\b[^\n]{{0,60}}{_REMOTE}",
    ),
    _Rule(
        f"read|open|cat|print|collect|gather|show|dump|copy&{_IN_SECRETS}&and|then",
        rf"{_NOW}(?:read|open|cat|print|collect|gather|show|dump|copy)\b[^\n]{{0,60}}{_SECRETS}[^\n]{{0,100}}\b(?:and|then) (?:send|post|upload|"
        r"include|paste|put|append|commit|push|print|e?mail|reply)\b",
    ),
    _Rule(
        f"do not|don|never|without&{_IN_PEOPLE}&tell|inform|mention|ask|alert|notify|warn|reveal|report|show|disclos",
        r"\b(?:do not|don'?t|never|without) (?:ever )?(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|ask(?:ing)?|alert(?:ing)?|notify(?:ing)?|"
        r"warn(?:ing)?|reveal(?:ing)?|report(?:ing)?|show(?:ing)?|disclos(?:e|ing))\b[^\n]{0,40}\b(?:the )?(?:users?|humans?|persons?|people|operators?|"
        r"developers?|owners?|anyone|anybody)\b",
    ),
    _Rule(
        f"keep|hide|conceal&from&{_IN_PEOPLE}",
        r"\b(?:keep|hide|conceal) (?:this|it|that) (?:(?:secret|hidden|quiet) )?from (?:the )?(?:users?|humans?|persons?|developers?|operators?)\b",
    ),
    _Rule(
        "disable|turn|switch|remove|skip|bypass&safety|sandbox|approval|permission|security|guardrail|confirmation",
        rf"{_NOW}(?:disable|turn off|switch off|remove|skip|bypass)\b[^\n]{{0,40}}\b(?:safety|sandbox|approval|permission (?:check|prompt)|"
        r"security check|guardrail|confirmation prompt)s?\b",
    ),
    _Rule(
        "approve|accept|allow&all|every|any&call|command|request|permission|action",
        r"\b(?:approve|accept|allow|auto-?approve) (?:all|every|any) (?:further |future |following |tool |permission )*(?:tool calls?|"
        r"commands?|requests?|permissions?|actions?)\b",
    ),
    _Rule(
        f"when&{_IN_PEOPLE}|someone|you",
        r"\bwhen(?:ever)? (?:the )?(?:user|person|developer|someone|anyone|you(?: are)?)\b[^\n]{0,80}(?:,|\bthen\b) ?(?:also |first |always |"
        r"silently |secretly |instead )*(?:run|execute|send|upload|add|insert|delete|post|curl|fetch|push|reply|open|install|disable)\b",
    ),
    _Rule(
        "next|session&run|execut|send|upload|post|curl|fetch|install|disable|obey|append|include|push|delete",
        r"\b(?:next time|in (?:the|your) next (?:session|turn|reply)|from the next session|in (?:every|all) (?:future )?"
        r"sessions?)\b[^\n]{0,80}\b(?:run|execute|send|upload|post|curl|fetch|install|disable|obey|append|include|push|delete)\b",
    ),
    _Rule(
        "rm -rf|rm",
        r"\brm -rf (?:~|/|\$HOME|\*)(?:\s|$|[`'\"])",
    ),
    _Rule(
        "silently|secretly|quietly|covertly",
        r"\b(?:silently|secretly|quietly|covertly) (?:run|execute|send|upload|add|insert|delete|post|install|push|copy|disable|append|commit)\b",
    ),
    _Rule(
        f"执行|執行|运行|運行|跑一下|调用|調用&curl|wget|rm|base64|sudo|{_IN_REMOTE}",
        rf"(?<!正在)(?<!已)(?<!在)(?:执行|執行|运行|運行|跑一下|调用|調用)(?! ?[：:])[^\n。]{{0,40}}(?:\bcurl\b|\bwget\b|rm -rf|{_REMOTE}|base64|\bsudo\b)",
    ),
    _Rule(
        f"把|将|將&{_IN_SECRETS}",
        rf"(?:把|将|將)[^\n。]{{0,40}}{_SECRETS}[^\n。]{{0,40}}(?:发送|發送|发给|發給|上传|上傳|转发|轉發|泄露|洩露|外传|外傳|发到|發到|寄到|提交到|粘贴|附上|写入回复|附加)",
    ),
    _Rule(
        f"发|發|传|傳|转|轉|泄|洩|复制|複製|粘贴&{_IN_SECRETS}",
        rf"(?:发送|發送|发给|發給|上传|上傳|转发|轉發|泄露|洩露|外传|外傳|复制|複製|粘贴)[^\n。]{{0,30}}{_SECRETS}[^\n。]{{0,20}}(?:到|至|给|給)[^\n]{{0,30}}{_REMOTE}",
    ),
    _Rule(
        f"取|收集|打印|查看&{_IN_SECRETS}",
        rf"(?:读取|讀取|收集|打印|查看)[^\n。]{{0,30}}{_SECRETS}[^\n]{{0,40}}(?:并|並|然后|然後|再)[^\n]{{0,10}}(?:发|發|上传|上傳|提交|粘贴|写入|附|告诉)",
    ),
    _Rule(
        f"发|發|传|傳|转|轉|提交&{_IN_REMOTE}",
        rf"(?:发送|發送|上传|上傳|转发|轉發|发到|發到|提交)[^\n]{{0,40}}(?:到|至|给|給)[^\n]{{0,30}}{_REMOTE}",
    ),
    _Rule(
        "必|务|務|一定|立|马上|馬上&行|发|發|传|傳|下载|下載|除所有|从|從",
        r"(?:你|您)?(?:必须|必須|务必|務必|一定要|应立即|請立即|请立即|立即|立刻|马上|馬上)(?:无条件|無條件|静默|靜默|先)*"
        r"(?:执行|執行|运行|運行|发送|發送|上传|上傳|下载并|下載並|删除所有|刪除所有|服从|服從|遵从|遵從)",
    ),
    _Rule(
        "不要|别|別|切勿|需|不必|不得&用户|用戶|使用者|者|人",
        r"(?:不要|别|別|切勿|无需|無需|不必|不得)(?:告诉|告訴|告知|通知|提醒|询问|詢問|让|讓|向)[^\n]{0,6}(?:用户|用戶|使用者|开发者|開發者|任何人|人类|人類|主人)",
    ),
    _Rule(
        "解码|解碼|解密",
        r"(?:解码|解碼|解密)[^\n。]{0,40}(?:并|並|然后|然後|再)(?:执行|執行|运行|運行|照做)",
    ),
    _Rule(
        "关|關|禁|停|绕|繞|跳&安全|沙|审|審|权|權|確認",
        r"(?:关闭|關閉|禁用|停用|绕过|繞過|跳过|跳過)[^\n。]{0,12}(?:安全检查|安全檢查|沙箱|沙盒|审批|審批|权限确认|權限確認|权限检查|確認提示)",
    ),
    _Rule(
        "批准|同意|允|通过|通過&所有|一切|任何|全部",
        r"(?:批准|同意|允许|允許|通过|通過)(?:所有|一切|任何|全部)(?:后续|後續|的)?(?:工具|命令|请求|請求|权限|權限|操作)",
    ),
    _Rule(
        "悄|偷|暗中|静默|靜默|秘密",
        r"(?:悄悄|偷偷|暗中|静默|靜默|秘密)(?:地)?(?:执行|執行|运行|運行|发送|發送|上传|上傳|添加|删除|刪除|安装|安裝|提交|写入)",
    ),
    _Rule(
        "下次|下一次|每次",
        r"(?:下次|下一次|以后每次|以後每次|每次)(?:会话|會話|用户|用戶|有人|启动|啟動)[^\n]{0,30}(?:执行|執行|运行|運行|发送|發送|上传|上傳|安装|安裝|删除|刪除)",
    ),
)  # fmt: skip
# Words of names stand apart by other signs than spaces.
_JOINED = re.compile(r"_+|(?<=[^\W_])[\-.+/](?=[^\W_])")
_ENDS = re.compile(r"(?<=[.!?;])\s+|(?<=[\u3002\uff01\uff1f\uff1b])|\n+")


def takes_over(text: str) -> bool:
    """Whether anything in a text would take over a conversation, if it were obeyed."""
    return _finds(_TAKES_OVER, _forms(text))


@lru_cache(maxsize=_KNOWN)
def looks_like_instruction(text: str) -> bool:
    """Whether a text takes over a conversation or gives an order that harms. Linear in its length, 20,000 at most."""
    forms = _forms(text)
    return _finds(_TAKES_OVER, forms) or _finds(_HARMS, forms)


def without_instructions(text: str) -> str:
    """The text without sentences that harm; empty if it would take over. Any other comes back as it is."""
    if not looks_like_instruction(text):
        return text
    if takes_over(text):
        return ""
    kept = [part for part in _ENDS.split(text[:_READ]) if part and not looks_like_instruction(part)]
    left = "\n".join(kept)
    # What only makes an order together with its neighbours goes with them.
    return "" if looks_like_instruction(left) else left


def _finds(rules: Sequence[_Rule], forms: Sequence[str]) -> bool:
    lowered = [form.lower() for form in forms]
    return any(rule.finds(form, low) for form, low in zip(forms, lowered, strict=True) for rule in rules)


def _forms(text: str) -> tuple[str, ...]:
    """The text as it is read: full-width letters as letters, nothing hidden, one line; and as the words of a name."""
    read = text[:_READ]
    if not read.isascii() or not read.isprintable():
        read = unicodedata.normalize("NFKC", quoting.plain(read))
    read = " ".join(read.split())
    parted = " ".join(_JOINED.sub(" ", read).split())
    return (read,) if parted == read else (read, parted)
