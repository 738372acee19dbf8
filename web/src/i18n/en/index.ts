// All texts of one language, by area.
import first from './first';
import rest from './rest';

export default { ...first, ...rest };
