// Texts of the other pages, loaded with the first of them.
import bank from './bank';
import catalog from './catalog';
import knowledge from './knowledge';
import lab from './lab';
import qa from './qa';
import system from './system';

export default { bank, catalog, knowledge, lab, qa, system };
