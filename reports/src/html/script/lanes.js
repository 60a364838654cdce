// Where each lane lies, from top to bottom: the clients, lock by lock, then the servers. Where there
// are many, all are low but those that a reader looks at.
(() => {
  const TALL = 46;
  const LOW = 4;
  const SERVER = 30;
  const HEADING = 20;
  // Lanes share a canvas of this height before they scroll.
  const ROOM = 520;

  // Lanes that have an operation which is wanted, by number.
  const wantedLanes = ({ scene, operations }, mask) => {
    if (mask === null) return scene.lanes.map((_, lane) => lane);
    const seen = new Uint8Array(scene.lanes.length);
    for (let at = 0; at < operations.count; at += 1) {
      if (mask[at] === 1) seen[operations.lane[at]] = 1;
    }
    return scene.lanes.map((_, lane) => lane).filter((lane) => seen[lane] === 1);
  };

  // Of the wanted lanes those that are `tall`, if only these are asked for and there are any.
  const shownLanes = (history, mask, tall, isOnlyTall) => {
    const lanes = wantedLanes(history, mask);
    const only = lanes.filter((lane) => tall.has(lane));
    return isOnlyTall && only.length > 0 ? only : lanes;
  };

  // Rows with `top` and `height`; `rowOf` leads from a lane to its row, or to -1. The clients of a
  // violation that is looked at are `tall`.
  const arrange = (history, mask, tall, isOnlyTall) => {
    const { scene } = history;
    const lanes = shownLanes(history, mask, tall, isOnlyTall);
    const headings = new Set(lanes.map((lane) => scene.lanes[lane][0])).size;
    const hasHeadings = headings > 1;
    const fixed = scene.servers.length * SERVER + (hasHeadings ? headings * HEADING : 0);
    const raised = lanes.filter((lane) => tall.has(lane)).length;
    const share = (ROOM - fixed - raised * TALL) / Math.max(1, lanes.length - raised);
    const usual = Math.floor(Math.min(TALL, Math.max(LOW, share)));
    const rows = [];
    const rowOf = new Int32Array(scene.lanes.length).fill(-1);
    let [top, before] = [0, -1];
    const add = (row) => {
      rows.push({ ...row, top });
      top += row.height;
    };
    for (const lane of lanes) {
      const [key, client] = scene.lanes[lane];
      if (hasHeadings && key !== before) add({ kind: 'lock', name: scene.keys[key], height: HEADING });
      before = key;
      rowOf[lane] = rows.length;
      const height = tall.has(lane) ? TALL : usual;
      add({ kind: 'client', name: scene.clients[client], lane, height });
    }
    for (const server of scene.servers) {
      add({ kind: 'server', name: server.name, server, height: SERVER });
    }
    return { rows, rowOf, height: Math.max(top, TALL), lanes: lanes.length };
  };

  lockstorm.arrange = arrange;
})();
