// 其他页面的文本，随其中第一个页面加载。
import bank from './bank';
import catalog from './catalog';
import knowledge from './knowledge';
import lab from './lab';
import qa from './qa';
import system from './system';

export default { bank, catalog, knowledge, lab, qa, system };
