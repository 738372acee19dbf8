// 首次访问所需的文本。
import common from './common';
import errors from './errors';
import shell from './shell';

export default { common, errors, shell };
