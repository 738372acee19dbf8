"""What each event means, in both languages. An event without a text here fails the page."""

from __future__ import annotations

from collections.abc import Mapping

from codexmem.kernel.model.event import EventType as E
from tests.docs.reference.markdown import Spoken, both

LIVE: Mapping[str, Spoken] = {
    "queue.depth": both("how many captured events are queued and running", "等待中与进行中的捕获任务数量"),
}
EVENTS: Mapping[E, Spoken] = {
    E.MEMORY_WRITTEN: both("a version was added", "增加了一个版本"),
    E.MEMORY_ERASED: both("erased for good; the audit line that remains", "永久遗忘；仅留下这行审计记录"),
    E.DELTA_ROLLED_BACK: both("a delta was undone", "撤回了一个增量"),
    E.SEARCH_ANSWERED: both("the trace of one search", "一次检索的轨迹"),
    E.QUEUE_FAILED: both("a job failed for good", "一个任务最终失败"),
    E.SESSION_STATUS: both("an agent's session started or ended", "智能体的会话开始或结束"),
    E.MODEL_RESULT: both("one extraction, and who answered it", "一次提取，以及由谁作答"),
    E.MODEL_FAILED: both("the model did not answer, so rules did", "本应由模型作答而未能，改由规则完成"),
    E.EXTRACTION_TIMED: both("how long one extraction took, step by step", "一次提取各步骤的耗时"),
    E.CONTEXT_GIVEN: both("which memories an agent was given", "交给智能体的记忆"),
    E.QA_SIGNAL: both("an answer was shown, used, tried or judged", "一个答案被展示、采用、尝试或评判"),
    E.TOOL_DECIDED: both("a row of a wrapper's audit log", "包装器审计日志的一行"),
    E.WORKSPACE_ERASED: both("a task's folder was removed for good", "一个任务的目录被永久删除"),
    E.KNOWLEDGE_RESTORED: both("knowledge and workspaces were restored from a backup",
                               "知识与工作区被其备份取代"),
    E.STORE_BACKED_UP: both("the store was backed up", "备份了整个库"),
    E.STORE_RESTORED: both("the store was restored from a backup", "整个库被备份取代"),
    E.TENANT_EXPORTED: both("a tenant was exported to a file", "将一个租户导出到文件"),
    E.TENANT_IMPORTED: both("a tenant was imported from a file", "从文件导入了一个租户"),
    E.TENANT_MOVED: both("a step of a tenant's move to another cluster", "租户迁移到另一集群的一个步骤"),
    E.TENANT_ERASED: both("erasing a tenant began, or is done", "开始清除租户，或已清除完毕"),
    E.KEY_CREATED: both("a key was created", "创建了密钥"),
    E.KEY_REVOKED: both("a key was revoked", "撤销了密钥"),
    E.MEMBER_CHANGED: both("a member or a group was added, changed or removed", "添加、更改或移除了成员或组"),
    E.GRANT_CHANGED: both("a role in a project was granted or taken back", "授予或收回了项目中的角色"),
    E.RUN_STARTED: both("a run starts", "运行开始"),
    E.RUN_RESUMED: both("another worker continues where the last one vanished", "另一个 worker 从中断处继续"),
    E.RUN_FAILED: both("it failed, with the reason", "运行失败及原因"),
    E.RUN_CANCELED: both("somebody canceled it", "运行被取消"),
    E.RECAP_INFO: both("the agent entered a subtask, acted, or returned",
                       "智能体进入子任务、执行动作或返回上层"),
    E.KB_QUERY: both("it asked the knowledge base", "查询知识库"),
    E.KB_GET: both("it read a piece of it", "读取其中一段"),
    E.KB_LIST: both("it listed pieces", "列出片段"),
    E.LLM_REQUEST: both("a model is asked; written before the call, so a repeated call appears twice",
                        "请求模型；在调用之前写入，因此调用两次就有两行"),
    E.LLM_RESPONSE: both("what the model answered", "模型的回答"),
    E.CITATIONS_RESOLVED: both("what the answer cites, found or not", "答案引用的内容，是否找到"),
    E.MEMORIES_RESOLVED: both("the lessons that the answer cites", "答案引用的经验"),
    E.FINAL_OUTPUT: both("the answer", "最终答案"),
    E.MEM_SEARCH: both("it searched lessons", "检索经验"),
    E.MEM_GET: both("it read a lesson", "读取一条经验"),
    E.MEM_LIST: both("it listed lessons", "列出经验"),
    E.RB_LEARN_QUEUED: both("learning from the run is queued", "从该运行学习，排队中"),
    E.RB_JOB_STARTED: both("a learning job starts", "学习任务开始"),
    E.RB_JOB_COMPLETED: both("it is done", "学习任务完成"),
    E.RB_JOB_FAILED: both("it failed", "学习任务失败"),
    E.RB_LEARN_COMPLETED: both("lessons were written, as one delta", "写入了经验，属于一个增量"),
    E.RB_LEARN_FAILED: both("nothing was learned, with the reason", "没有学到内容及原因"),
    E.RB_LEARN_SNAPSHOT: both("the input of the learning job", "学习所依据的内容"),
    E.RB_SOURCE_OPENED: both("learning read a source", "学习时读取了一个来源"),
    E.RB_ROLLBACK_STARTED: both("a rollback of the run's learning starts", "开始回滚该运行的学习"),
    E.RB_ROLLBACK_COMPLETED: both("it is done", "回滚完成"),
}  # fmt: skip
