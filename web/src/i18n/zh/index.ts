// 一种语言的全部文本，按领域组织。
import first from './first';
import rest from './rest';

export default { ...first, ...rest };
