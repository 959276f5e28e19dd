# A thin front for Meson: `make` builds, and the README's two commands are `make demo` and `make test`.
# Everything that has to be decided is decided in meson.build and tools/.
BUILD ?= build

.PHONY: build demo test bench install clean
build: $(BUILD)/build.ninja
	@ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@tools/install-dependencies build
	@meson setup $(BUILD)

demo: build
	@demo/run $(BUILD)

test:
	@tests/run

bench: build
	@bench/run $(BUILD)

install: build
	@meson install -C $(BUILD)

clean:
	rm -rf $(BUILD) build-*
