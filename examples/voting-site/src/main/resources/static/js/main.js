import { startLab } from './lab.js';
import { startVote } from './vote.js';

startVote();
startLab();
