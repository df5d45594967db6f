// The reader of the output may end first, as `head` does, or the terminal: the work goes on to its end.
[process.stdout, process.stderr].forEach(function (stream) {
  stream.on('error', function () {});
});
