// 一种语言的全部文本，按领域组织。
import first from './first';
import memories from './memories';
import rest from './rest';
import viewer from './viewer';

export default { ...first, ...memories, ...rest, viewer };
