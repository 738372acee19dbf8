// 关于记忆的页面的文本，首页也在其中。
import learned from './learned';
import life from './life';
import memory from './memory';
import next from './next';
import notes from './notes';
import timeline from './timeline';

export default { learned, life, memory, next, notes, timeline };
