// 项目主页：智能体接下来会被告知什么，逐行显示。
import type { Same } from '../same';
import type en from '../en/next';

const next: Same<typeof en> = {
  title: '简报：{{project}}',
  description: '智能体对这个项目知道什么、接下来会被告知什么，以及如何修正。',
  panel: '智能体接下来会被告知的内容',
  copy: '复制原文',
  ask: '如果我问……',
  askHint: '输入提示词，预览会附带的记忆',
  askClear: '显示会话开始时的内容',
  askNote: '这些内容随提示词一起给出；会话开始时已告知的不再重复。',
  tokens: '已用 {{used}} / {{budget}} token',
  count_other: '{{number}} token',
  short: '{{number}} tok',
  acts: '对 {{what}} 的操作',
  why: '它从何而来？',
  empty: {
    title: '还没有关于这个项目的记忆',
    why: '智能体在这里工作过，或您保存过内容之后，这里会显示下一次会话将被告知什么。用以下命令连接您的智能体。',
  },
  nothing: {
    title: '这条提示词不会附带任何记忆',
    why: '没有足够相关的记忆，或者会话开始时已经告知。智能体主动搜索时仍能找到更多。',
    short: '请再多写几个字：这么短的提示词不会触发查找。',
  },
  section: {
    head: '开头',
    heading: '标题',
    about: '关于此记忆库',
    pinned: '置顶',
    core_note: '核心笔记',
    proposed_note: '智能体的笔记（待批准）',
    saved_by_person: '由人保存',
    saved_by_agent: '由智能体保存',
    last_session: '上次会话',
    lasting: '规则与决定',
    commands: '命令',
    errors: '错误',
    files: '文件',
    recent: '最近',
    relevant: '与提示词相关',
    earlier_session: '早先的会话',
    left_out: '已略去',
    end: '结尾',
    frame: '框架文字',
  },
  stale: {
    moved: '文件已移动',
    nearby: '文件别处有改动',
    changed: '文件已改动',
    gone: '文件已不存在',
  },
  below_other: '差一点就会告知：{{count}} 条记忆',
  notTold: {
    no_room: '没有剩余空间',
    like_an_instruction: '写得像指令，且不是由人写的',
    told_at_start: '会话开始时已告知',
    not_relevant_enough: '与提示词不够相关',
    read_by_agent: '智能体会在自己的文件中读到',
    file_gone: '相关文件已不存在',
    faded: '多次告知但从未用到',
    proposed: '等待您批准',
    withheld: '不告诉智能体',
  },
};

export default next;
