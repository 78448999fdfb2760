// The panels in the order of the evening.
const ORDER = ['limits', 'tasks', 'visitors', 'attendance', 'codes', 'places', 'points', 'leaderboard', 'sale', 'orders', 'notices', 'lock', 'majority'];

/** All of them; one whose module can't be loaded has none, and is named. */
export async function panels() {
  const loaded = await Promise.allSettled(ORDER.map((system) => import(`../panels/${system}.js`)));
  return {
    all: loaded.filter(({ status }) => status === 'fulfilled').map(({ value }) => value.default),
    missing: ORDER.filter((system, index) => loaded[index].status === 'rejected'),
  };
}
