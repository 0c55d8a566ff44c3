Promise.all(waits).then(() => { document.documentElement.dataset.ready = "yes"; });
