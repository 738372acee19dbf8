// Texts of the other pages, loaded with the first of them.
import bank from './bank';
import catalog from './catalog';
import lab from './lab';
import notes from './notes';
import qa from './qa';
import system from './system';
import timeline from './timeline';

export default { bank, catalog, lab, notes, qa, system, timeline };
