// 服务器的错误代码对人意味着什么，以及下一步怎么做。
import type { Same } from '../same';
import type en from '../en/errors';

const errors: Same<typeof en> = {
  invalid_argument: { what: '服务器没有接受此请求', next: '请修改输入后重试。' },
  unauthorized: { what: '服务器要求提供 API 密钥', next: '请输入有效的密钥。' },
  forbidden: { what: '服务器拒绝了此请求', next: '请用服务器打印的地址打开本应用。' },
  not_found: { what: '未找到', next: '可能已被删除，或地址有误。' },
  method_not_allowed: { what: '服务器不提供此操作', next: '服务器与页面的版本可能不同，请重新加载页面。' },
  request_timeout: { what: '请求超时', next: '请重试。' },
  conflict: { what: '其间已被修改，或名称已被占用', next: '请重新加载，再重复您的修改。' },
  payload_too_large: { what: '内容过大', next: '请缩短内容。' },
  unsupported_media_type: { what: '服务器无法识别此格式', next: '请重新加载页面。' },
  misdirected: { what: '服务器不接受此地址', next: '请使用服务器打印的地址，或将此名称加入允许的主机。' },
  rate_limited: { what: '请求过多', next: '请稍候再试。' },
  headers_too_large: { what: '地址过长', next: '请缩短筛选条件。' },
  internal: { what: '服务器出错', next: '请重试。详情在服务器日志中。' },
  dependency_unavailable: { what: '服务器所需的某项服务没有应答', next: '请稍候再试，或运行：codexmem doctor' },
  not_ready: { what: '服务器尚未就绪', next: '请稍候再试。' },
  storage_full: { what: '磁盘已满', next: '请腾出空间；没有内容丢失。' },
  unreachable: { what: '无法连接服务器', next: '请启动它：codexmem serve' },
  unknown: { what: '出错了', next: '请重试。' },
};

export default errors;
