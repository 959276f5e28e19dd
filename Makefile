# A thin front for Meson: `make` builds, and the README's commands are `make demo` and `make test`.
# Everything that has to be decided is decided in meson.build and tools/.
BUILD ?= build

.PHONY: build everything demo test test-kernel truth bench install dist clean
# The program and what is installed with it. Tests and benchmarks are of `everything`.
build: $(BUILD)/build.ninja
	@ninja -C $(BUILD) program

everything: $(BUILD)/build.ninja
	@ninja -C $(BUILD)

$(BUILD)/build.ninja:
	@tools/install-dependencies build
	@meson setup $(BUILD)

demo:
	@tools/install-dependencies demo
	@$(MAKE) --no-print-directory build
	@demo/run $(BUILD)

test:
	@tools/install-dependencies test
	@tests/run

test-kernel:
	@tools/install-dependencies test
	@$(MAKE) --no-print-directory everything
	@tests/kernel/run --build $(BUILD)

truth:
	@tools/install-dependencies test
	@$(MAKE) --no-print-directory everything
	@tests/truth/run --build $(BUILD)
	@tests/truth/markers --build $(BUILD)

bench:
	@tools/install-dependencies test
	@$(MAKE) --no-print-directory everything
	@bench/run $(BUILD)

# DESTDIR, from the environment or after `make install`, reaches Meson by itself.
install: $(BUILD)/build.ninja
	@$(if $(PREFIX),meson configure $(BUILD) --prefix=$(PREFIX))
	@$(MAKE) --no-print-directory build
	@meson install --no-rebuild -C $(BUILD)

# One static file, and packages of it: packaging/dist says which.
dist:
	@tools/install-dependencies dist
	@packaging/dist

clean:
	rm -rf build build-clang build-asan build-dist
