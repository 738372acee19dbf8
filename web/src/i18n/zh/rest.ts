// 其他页面的文本，随其中第一个页面加载。
import bank from './bank';
import catalog from './catalog';
import lab from './lab';
import notes from './notes';
import qa from './qa';
import system from './system';
import timeline from './timeline';

export default { bank, catalog, lab, notes, qa, system, timeline };
